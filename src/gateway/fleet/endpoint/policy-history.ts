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

  /** Adds a new present policy. One that differs in its shadows alone decides alike: it replaces the present one. */
  add(version: PolicyVersion): void {
    const { hash, policy } = this.#present;
    if (version.hash === hash && sameButShadows(version.policy, policy)) {
      this.#present = { ...version, sinceUs: this.#present.sinceUs };
      return;
    }
    this.#former.push(this.#present);
    if (this.#former.length > MOST) this.#former.shift();
    this.#present = version;
  }

  /** Restores and returns the previous policy, with the present shadows; null when there is none. */
  back(nowUs: number): PolicyVersion | null {
    const before = this.#former.pop();
    if (before === undefined) return null;
    const { shadows } = this.#present.policy;
    this.#present = { ...before, policy: { ...before.policy, shadows }, sinceUs: nowUs };
    return this.#present;
  }
}

function sameButShadows({ shadows: _a, ...a }: PolicyConfig, { shadows: _b, ...b }: PolicyConfig): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
