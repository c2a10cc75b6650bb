import type { RunningBatch } from '../batch/running-batch.js';
import type { TokenGaps } from '../batch/token-gaps.js';
import { lastContext } from '../context-limits.js';
import { type EngineRules, engineRules } from '../engine-rules.js';
import type { KvCache } from '../kv/kv-cache.js';
import type { LatencyModel } from '../latency/contract.js';
import type { ReplicaCounters } from '../replica-counters.js';
import type { ReplicaModelConfig } from '../replica-model-config.js';
import type { ReplicaRequests } from '../replica-requests.js';
import type { BatchFormation } from './batch-formation.js';
import type { StepReports } from './step-reports.js';

/** What StepEnd works on. */
export interface StepEndParts {
  config: ReplicaModelConfig;
  batch: RunningBatch;
  kv: KvCache;
  formation: BatchFormation;
  gaps: TokenGaps;
  latency: LatencyModel;
  requests: ReplicaRequests;
  reports: StepReports;
  counters: ReplicaCounters;
}

/** The requests that change state at the end of a step: prompts that are computed, and requests that are complete. */
export class StepEnd {
  readonly #config: ReplicaModelConfig;
  readonly #batch: RunningBatch;
  readonly #kv: KvCache;
  readonly #formation: BatchFormation;
  readonly #gaps: TokenGaps;
  readonly #latency: LatencyModel;
  readonly #requests: ReplicaRequests;
  readonly #reports: StepReports;
  readonly #counters: ReplicaCounters;
  readonly #rules: EngineRules;
  /** Slots that finish in this step. */
  readonly #done: number[] = [];

  constructor(parts: StepEndParts) {
    this.#config = parts.config;
    this.#batch = parts.batch;
    this.#kv = parts.kv;
    this.#formation = parts.formation;
    this.#gaps = parts.gaps;
    this.#latency = parts.latency;
    this.#requests = parts.requests;
    this.#reports = parts.reports;
    this.#counters = parts.counters;
    this.#rules = engineRules(parts.config.engineRules);
  }

  /** Call it when the batch's clock has moved on. Returns whether a request completed. */
  run(endUs: number): boolean {
    if (this.#formation.prefilling.length > 0) this.#finishPrompts(endUs);
    this.#batch.collectDone(this.#done);
    if (this.#done.length === 0) return false;
    this.#complete(endUs);
    return true;
  }

  /** Prompts that this step finished: their first token comes out at the end of the step. */
  #finishPrompts(endUs: number): void {
    const batch = this.#batch;
    const { prefilling } = this.#formation;
    const { kept } = this.#formation.seating;
    const { table, outcomes } = this.#requests;
    let left = 0;
    for (let i = 0; i < prefilling.length; i++) {
      const slot = prefilling[i]!;
      if (batch.computed[slot]! < batch.input[slot]!) {
        prefilling[left++] = slot;
        continue;
      }
      const row = batch.row[slot]!;
      const goesOn = kept?.goOn(slot, endUs) === true;
      if (!goesOn) {
        outcomes.ttftUs[row] = endUs + this.#latency.outputTokenUs - table.arrivalUs[row]!;
        batch.decodeStartUs[slot] = endUs;
        this.#gaps.open(slot);
      }
      batch.startDecoding(slot, lastContext(table, row, this.#config));
      if (!goesOn) this.#reports.firstToken(row, endUs);
    }
    if (left < prefilling.length) prefilling.length = left;
  }

  #complete(endUs: number): void {
    const batch = this.#batch;
    const done = this.#done;
    for (let i = 0; i < done.length; i++) {
      this.#finish(done[i]!, endUs);
      batch.unseat(batch.placeOf(done[i]!));
    }
    done.length = 0;
  }

  #finish(slot: number, endUs: number): void {
    const batch = this.#batch;
    const counters = this.#counters;
    const { table, outcomes } = this.#requests;
    const row = batch.row[slot]!;
    const output = table.outputTokens[row]!;
    const context = batch.progress(slot);
    const gaps = context - table.inputTokens[row]!;
    const capped = gaps + 1 < output;
    const lastNeedsBlock =
      this.#rules.storesLastToken && output > 0 && !capped && batch.stored(slot) % this.#config.blockSize === 0;
    counters.allocationFailures += lastNeedsBlock && !this.#kv.appendBlock(slot) ? 1 : 0;
    const { pool } = this.#kv;
    const before = pool.used;
    this.#kv.release(slot);
    this.#formation.seating.kept?.claimGaps(row);
    this.#formation.seating.gone(row);
    const itlSum = endUs - batch.decodeStartUs[slot]! - batch.idleUs[slot]! + gaps * this.#latency.outputTokenUs;
    const produced = output === 0 ? 0 : gaps + 1;
    outcomes.complete(row, itlSum, produced, output > 0 ? this.#latency.postDecodeUs : 0, capped);
    this.#gaps.claim(slot);
    counters.completed++;
    counters.lengthCapped += capped ? 1 : 0;
    counters.outputTokens += produced;
    this.#reports.left(row, endUs, before - pool.used);
  }
}
