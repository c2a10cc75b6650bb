import type { TokenPoint } from './profile.js';

/** Steps of more tokens than this are rare enough to compute their time each time. */
const MOST_TABULATED = 16_384;

/** A time by tokens through the given points: straight lines between them, flat before the first, straight on after the last. */
export class TokenCurve {
  readonly #points: readonly TokenPoint[];
  readonly #us: Float64Array;

  /** At least one point, tokens ascending. */
  constructor(points: readonly TokenPoint[]) {
    this.#points = points;
    const tabulated = Math.min(points.at(-1)!.tokens, MOST_TABULATED) + 1;
    this.#us = Float64Array.from({ length: tabulated }, (_, tokens) => this.#onLine(tokens));
  }

  at(tokens: number): number {
    return tokens < this.#us.length ? this.#us[tokens]! : this.#onLine(tokens);
  }

  #onLine(tokens: number): number {
    const points = this.#points;
    if (points.length === 1 || tokens <= points[0]!.tokens) return points[0]!.us;
    let i = 1;
    while (i < points.length - 1 && points[i]!.tokens < tokens) i++;
    const from = points[i - 1]!;
    const to = points[i]!;
    return from.us + ((to.us - from.us) * (tokens - from.tokens)) / (to.tokens - from.tokens);
  }
}
