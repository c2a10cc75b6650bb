/**
 * Sums over stretches of time of what lasts from one moment to another, such as requests at a replica: the mean of each
 * stretch. A span costs the same however long it lasts.
 */
export class SpanSums {
  readonly #steps: number;
  readonly #stepUs: number;
  readonly #partial: Float64Array;
  readonly #whole: Float64Array;

  constructor(rows: number, steps: number, stepUs: number) {
    this.#steps = steps;
    this.#stepUs = stepUs;
    this.#partial = new Float64Array(rows * steps);
    this.#whole = new Float64Array(rows * (steps + 1));
  }

  add(row: number, fromUs: number, toUs: number, weight = 1): void {
    const last = this.#steps - 1;
    const stepUs = this.#stepUs;
    const begin = Math.min(last, Math.floor(fromUs / stepUs));
    const end = Math.min(last, Math.floor(toUs / stepUs));
    const at = row * this.#steps;
    if (begin === end) {
      this.#partial[at + begin]! += weight * (toUs - fromUs);
      return;
    }
    this.#partial[at + begin]! += weight * ((begin + 1) * stepUs - fromUs);
    this.#partial[at + end]! += weight * (toUs - end * stepUs);
    // Stretches in between are full: counted by where they begin and end.
    this.#whole[row * (this.#steps + 1) + begin + 1]! += weight;
    this.#whole[row * (this.#steps + 1) + end]! -= weight;
  }

  /** The means of a row, to two digits after the point. */
  means(row: number): number[] {
    let covering = 0;
    return Array.from({ length: this.#steps }, (_, step) => {
      covering += this.#whole[row * (this.#steps + 1) + step]!;
      return roundedLoad(covering + this.#partial[row * this.#steps + step]! / this.#stepUs);
    });
  }
}

export function roundedLoad(value: number): number {
  return Math.round(value * 100) / 100;
}
