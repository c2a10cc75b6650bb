import type { PolicyConfig } from '../../config/gateway-config.js';

/** A policy that holds or held. */
export interface PolicyVersion {
  hash: string;
  policy: PolicyConfig;
  /** Since when, in the gateway's microseconds. */
  sinceUs: number;
}

/** So many former policies can be gone back to. */
const MOST = 20;

/** The policies of an endpoint, one after the other. */
export class PolicyHistory {
  /** The latest last. */
  readonly #former: PolicyVersion[] = [];
  #present: PolicyVersion;

  constructor(present: PolicyVersion) {
    this.#present = present;
  }

  /** The newest first: the one that holds, then those that going back leads to. */
  all(): PolicyVersion[] {
    return [this.#present, ...this.#former.toReversed()];
  }

  /** Another one holds now. */
  add(version: PolicyVersion): void {
    this.#former.push(this.#present);
    if (this.#former.length > MOST) this.#former.shift();
    this.#present = version;
  }

  /** The one before holds again, and is the present one; null when there is none. */
  back(nowUs: number): PolicyVersion | null {
    const before = this.#former.pop();
    if (before === undefined) return null;
    this.#present = { ...before, sinceUs: nowUs };
    return this.#present;
  }
}
