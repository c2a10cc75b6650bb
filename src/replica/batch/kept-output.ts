import { repeatedTokens } from '../../workload/request-table.js';
import type { ReplicaRequests } from '../replica-requests.js';
import type { RunningBatch } from './running-batch.js';
import type { TokenGaps } from './token-gaps.js';

/** The top of the range that block keys come from: prompts are given theirs from the bottom. */
const HIGHEST_KEY = 2 ** 31 - 2;

interface Kept {
  /** Output tokens so far. */
  produced: number;
  /** When the first one came, moved by the steps the request had to sit out; and when the last one did. */
  firstTokenUs: number;
  lastTokenUs: number;
  /** Between its tokens up to its return, the time it waited for that included. */
  gapsUs: number[];
  /** First key of the blocks that hold some of the response; they are numbered downwards. 0 when not yet handed out. */
  firstKey: number;
}

/**
 * What preempted requests take along under rules that keep their output: the tokens they have given, which are computed again
 * as if they belonged to the prompt. Nothing is kept of a request that had no token yet.
 */
export class KeptOutput {
  readonly #batch: RunningBatch;
  readonly #gaps: TokenGaps;
  readonly #requests: ReplicaRequests;
  readonly #blockSize: number;
  readonly #kept = new Map<number, Kept>();
  #nextKey = HIGHEST_KEY;

  constructor(batch: RunningBatch, gaps: TokenGaps, requests: ReplicaRequests, blockSize: number) {
    this.#batch = batch;
    this.#gaps = gaps;
    this.#requests = requests;
    this.#blockSize = blockSize;
  }

  /** Output tokens that the request has from before its last preemption. */
  produced(row: number): number {
    return this.#kept.get(row)?.produced ?? 0;
  }

  /** A slot is about to lose its seat; its last token came out just now. */
  keep(slot: number, nowUs: number): void {
    const batch = this.#batch;
    if (batch.decodes[slot] === 0) return;
    const row = batch.row[slot]!;
    const before = this.#kept.get(row);
    this.#kept.set(row, {
      produced: batch.progress(slot) - this.#requests.table.inputTokens[row]! + 1,
      firstTokenUs: batch.decodeStartUs[slot]! + batch.idleUs[slot]!,
      lastTokenUs: nowUs,
      gapsUs: [...(before?.gapsUs ?? []), ...this.#gaps.soFar(slot)],
      firstKey: before?.firstKey ?? 0,
    });
  }

  /** The request's prompt and kept output are computed: it goes on where it stopped. False for one that had no token yet. */
  goOn(slot: number, endUs: number): boolean {
    const kept = this.#kept.get(this.#batch.row[slot]!);
    if (kept === undefined) return false;
    this.#batch.decodeStartUs[slot] = kept.firstTokenUs;
    kept.gapsUs.push(endUs - kept.lastTokenUs);
    this.#gaps.open(slot);
    return true;
  }

  /** The request is complete: the gaps up to its last return count. */
  claimGaps(row: number): void {
    const kept = this.#kept.get(row);
    if (kept !== undefined) this.#gaps.claimAll(kept.gapsUs);
  }

  /** Keys of the row's first blocks; those that reach into its output are its own. */
  fillKeys(row: number, blocks: number, out: Int32Array): void {
    const { table, keys } = this.#requests;
    const ofPrompt = Math.min(blocks, (repeatedTokens(table, row) / this.#blockSize) | 0);
    keys.fill(row, ofPrompt, out);
    if (blocks === ofPrompt) return;
    const first = this.#firstKey(row);
    for (let i = ofPrompt; i < blocks; i++) out[i] = first - (i - ofPrompt);
  }

  /** The request will not come back. */
  forget(row: number): void {
    if (this.#kept.size > 0) this.#kept.delete(row);
  }

  #firstKey(row: number): number {
    const kept = this.#kept.get(row)!;
    if (kept.firstKey === 0) {
      kept.firstKey = this.#nextKey;
      this.#nextKey -= Math.ceil(this.#requests.table.outputTokens[row]! / this.#blockSize) + 1;
    }
    return kept.firstKey;
  }
}
