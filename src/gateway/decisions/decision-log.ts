import { closeSync, openSync, writeSync } from 'node:fs';
import type { DecisionInput } from '../fleet/deciding-fleet.js';
import type { PolicyConfig } from '../gateway-config.js';
import type { ReplicaSignals } from '../signals/replica-signals.js';

/** A line of the decision log: one call that changed a fleet's state, or a decision. `replay --decisions` makes them again. */
export type LogLine =
  | { type: 'policy'; endpoint: string; config: PolicyConfig; seed: number; staleMs: number }
  | { type: 'replicas'; endpoint: string; ids: readonly string[] }
  | { type: 'signals'; endpoint: string; id: string; signals: ReplicaSignals }
  | ({ type: 'request'; endpoint: string; request: number; id: string; replica: string | null } & Omit<
      DecisionInput,
      'blocks' | 'blockCount'
    > & { blocks: number[] })
  | { type: 'first' | 'done'; endpoint: string; request: number };

const FLUSH_CHARACTERS = 64 * 1024;

/**
 * Writes the log, in pieces. It holds what decisions depend on: block ids, not text, except for policies that key by text,
 * whose requests carry their messages; so only its owner may read it.
 */
export class DecisionLog {
  readonly #file: number;
  #pending = '';

  constructor(path: string) {
    this.#file = openSync(path, 'w', 0o600);
  }

  write(line: LogLine): void {
    this.#pending += `${JSON.stringify(line)}\n`;
    if (this.#pending.length >= FLUSH_CHARACTERS) this.flush();
  }

  flush(): void {
    if (this.#pending === '') return;
    const text = this.#pending;
    this.#pending = '';
    writeSync(this.#file, text);
  }

  close(): void {
    this.flush();
    closeSync(this.#file);
  }
}
