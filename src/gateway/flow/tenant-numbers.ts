/** More tenants are not told apart. */
export const MOST_TENANTS = 10_000;

/**
 * Tenants as small whole numbers, in order of first appearance. However many there are, so many are remembered: later ones
 * share a number, except for those that somebody has asked to keep.
 */
export class TenantNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #most: number;

  constructor(most = MOST_TENANTS) {
    this.#most = most;
  }

  /** -1 for nobody. */
  of(name: string): number {
    if (name === '') return -1;
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    return this.#numbers.size < this.#most ? this.keep(name) : 0;
  }

  /** A number of its own, now and for good. */
  keep(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    // 0 is shared.
    const fresh = this.#numbers.size + 1;
    this.#numbers.set(name, fresh);
    return fresh;
  }
}
