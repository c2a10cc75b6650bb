import { closeSync, openSync, writeFileSync } from 'node:fs';
import { writeProblem } from '../../files/file-problem.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';
import type { PolicyConfig } from '../config/gateway-config.js';
import { unwritableLog, unwrittenLines } from '../errors.js';
import type { ReplicaSignals } from '../signals/replica-signals.js';
import type { DecisionInput } from './deciding-fleet.js';
import type { ShadowDecision } from './shadow-decision.js';

/** A line of the decision log: a call that changed a fleet's state, or a decision. `replay --decisions` repeats them. */
export type DecisionLine =
  | PolicyLine
  | { type: 'stale'; endpoint: string; staleMs: number }
  | { type: 'replicas'; endpoint: string; ids: readonly string[] }
  | { type: 'signals'; endpoint: string; id: string; signals: ReplicaSignals }
  | RequestLine
  | { type: 'shadows'; endpoint: string; request: number; id: string; shadows: readonly ShadowDecision[] }
  | { type: 'profile'; endpoint: string; id: string; profile: LatencyProfile | null }
  | { type: 'first'; endpoint: string; request: number; atUs: number | null }
  | { type: 'done'; endpoint: string; request: number; atUs: number; outputTokens: number };

/** A policy takes over; `isNew`: of a new endpoint, without the state of an earlier one with its name. */
export interface PolicyLine {
  type: 'policy';
  endpoint: string;
  isNew: boolean;
  hash: string;
  config: PolicyConfig;
  seed: number;
  staleMs: number;
}

/** A decision: its inputs and its outcome. `policy` is the hash of the policy that made it. */
export interface RequestLine extends Omit<DecisionInput, 'blocks' | 'blockCount'> {
  type: 'request';
  endpoint: string;
  policy: string;
  request: number;
  replica: string | null;
  blocks: number[];
}

const FLUSH_CHARACTERS = 64 * 1024;

/**
 * Writes the log in chunks. It holds what decisions depend on: block ids, not text, except for policies that key by text, whose
 * requests include their messages; so only its owner may read it. When a write fails, that is reported once and requests go on
 * without the log: a log with a gap cannot be replayed.
 */
export class DecisionLog {
  readonly #path: string;
  readonly #file: number;
  readonly #failed: (error: unknown) => void;
  #pending = '';
  #isBroken = false;
  #isClosed = false;

  /** @param failed called when it cannot be written any more */
  constructor(path: string, failed: (error: unknown) => void) {
    this.#path = path;
    this.#failed = failed;
    try {
      this.#file = openSync(path, 'w', 0o600);
    } catch (error) {
      throw unwritableLog(path, writeProblem(error));
    }
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  write(line: DecisionLine): void {
    if (this.#isBroken) return;
    this.#pending += `${JSON.stringify(line)}\n`;
    if (this.#pending.length >= FLUSH_CHARACTERS) this.flush();
  }

  flush(): void {
    if (this.#pending === '') return;
    const text = this.#pending;
    this.#pending = '';
    try {
      writeFileSync(this.#file, text);
    } catch (error) {
      this.#isBroken = true;
      this.#failed(unwrittenLines(this.#path, error, 'no more decisions are logged'));
    }
  }

  close(): void {
    this.flush();
    if (!this.#isClosed) closeSync(this.#file);
    this.#isClosed = true;
  }
}
