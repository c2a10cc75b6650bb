import type { Slowdown } from './profile.js';

/** The load of one GPU: how much of the time just gone it computed as many tokens as it can, 0 to 1. */
export class GpuLoad {
  share = 0;
  readonly #tokenUs: number;
  readonly #overUs: number;

  constructor({ tokenUs, overUs }: Omit<Slowdown, 'share'>) {
    this.#tokenUs = tokenUs;
    this.#overUs = overUs;
  }

  /** The GPU has computed this many tokens in this time. */
  add(tokens: number, us: number): void {
    const kept = Math.exp(-us / this.#overUs);
    this.share = kept * this.share + (1 - kept) * this.steady(tokens, us);
  }

  /** The GPU was idle for this long. */
  rest(us: number): void {
    this.share *= Math.exp(-us / this.#overUs);
  }

  /** The load of only steps of this many tokens in this time. */
  steady(tokens: number, us: number): number {
    return Math.min(1, (tokens * this.#tokenUs) / us);
  }
}
