/** A weighted mixture of distributions. */
export class Shares {
  readonly #shares = new Map<number, number>();

  get isEmpty(): boolean {
    return ![...this.#shares].some(([value, share]) => value > 0 && share > 0);
  }

  add(distribution: ReadonlyMap<number, number>, weight: number): void {
    let sum = 0;
    for (const share of distribution.values()) sum += share;
    if (sum === 0) return;
    for (const [value, share] of distribution) {
      this.#shares.set(value, (this.#shares.get(value) ?? 0) + (share / sum) * weight);
    }
  }

  /** The lognormal distribution with the same mean and variance of the logarithm; zeros have none and are left out. */
  lognormal(): { mu: number; sigma: number } {
    let sum = 0;
    let mean = 0;
    let square = 0;
    for (const [value, share] of this.#sorted()) {
      if (value === 0) continue;
      const log = Math.log(value);
      sum += share;
      mean += share * log;
      square += share * log * log;
    }
    const mu = mean / sum;
    return { mu, sigma: Math.sqrt(Math.max(0, square / sum - mu * mu)) };
  }

  /** Of values from 0 to 1: the share of each percentage. */
  percent(): Record<string, number> {
    const shares: Record<string, number> = {};
    let sum = 0;
    for (const [, share] of this.#sorted()) sum += share;
    for (const [value, share] of this.#sorted()) {
      const key = String(Math.round(Math.min(1, value) * 100));
      shares[key] = (shares[key] ?? 0) + share / sum;
    }
    return shares;
  }

  /** In order of value: sums do not depend on what was added first. */
  #sorted(): [number, number][] {
    return [...this.#shares].sort(([a], [b]) => a - b);
  }
}
