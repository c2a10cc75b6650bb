/** Tenants that get a number of their own without a reservation. */
export const MOST_TENANTS = 10_000;

/**
 * Tenants as small whole numbers, in order of first appearance. Memory is bounded: beyond a limit, later tenants share
 * number 0, except for those with a number reserved for them.
 */
export class TenantNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #most: number;

  constructor(most = MOST_TENANTS) {
    this.#most = most;
  }

  /** -1 for requests without a tenant. */
  of(name: string): number {
    if (name === '') return -1;
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    return this.#numbers.size < this.#most ? this.reserve(name) : 0;
  }

  /** A number that no other tenant has. */
  reserve(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const fresh = this.#numbers.size + 1;
    this.#numbers.set(name, fresh);
    return fresh;
  }
}
