import type { PolicyConfig } from '../../config/gateway-config.js';

/** A present or former policy. */
export interface PolicyVersion {
  hash: string;
  policy: PolicyConfig;
  /** Since when, in the gateway's microseconds. */
  sinceUs: number;
}

/** How many former policies are kept for a rollback. */
const MOST = 20;

/** The policies of an endpoint, one after the other. */
export class PolicyHistory {
  /** The latest last. */
  readonly #former: PolicyVersion[] = [];
  #present: PolicyVersion;

  constructor(present: PolicyVersion) {
    this.#present = present;
  }

  /** The newest first: the present one, then those that rollbacks restore. */
  all(): PolicyVersion[] {
    return [this.#present, ...this.#former.toReversed()];
  }

  /** Adds a new present policy. */
  add(version: PolicyVersion): void {
    this.#former.push(this.#present);
    if (this.#former.length > MOST) this.#former.shift();
    this.#present = version;
  }

  /** Restores and returns the previous policy; null when there is none. */
  back(nowUs: number): PolicyVersion | null {
    const before = this.#former.pop();
    if (before === undefined) return null;
    this.#present = { ...before, sinceUs: nowUs };
    return this.#present;
  }
}
