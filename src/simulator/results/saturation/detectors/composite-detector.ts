import type { LoadLevel } from '../../../result-document.js';
import type { DetectorFinding, LoadDetector } from './load-detector.js';

/** With fewer completions quarters are too small to compare. */
const LEAST_FOR_QUARTERS = 20;

/**
 * Completions behind arrivals, and latencies of the later completions above those of the earlier ones, against what chance
 * explains. A trend counts only where it rises from quarter to quarter.
 */
export class CompositeDetector implements LoadDetector {
  #arrivals = 0;
  /** Sums of the latencies of the first n completions, in ms. */
  readonly #sums: number[] = [0];

  arrived(): void {
    this.#arrivals++;
  }

  completed(_atUs: number, e2eMs: number): void {
    this.#sums.push(this.#sums.at(-1)! + e2eMs);
  }

  level(): LoadLevel {
    return this.#judge().level;
  }

  finding(): DetectorFinding {
    const { deficit, level, noise, trend } = this.#judge();
    const behind = deficit < noise ? [] : [`completions ${percent(deficit)} behind arrivals`];
    const rising = trend <= noise ? [] : [`latency +${percent(trend)}`];
    return {
      level,
      why: level === 'stable' ? '' : [...behind, ...rising].join(', '),
      signals: { rate_deficit: deficit, latency_trend: trend, noise_floor: noise },
    };
  }

  #judge(): { deficit: number; trend: number; noise: number; level: LoadLevel } {
    if (this.#arrivals === 0) return { deficit: 0, trend: 0, noise: 1, level: 'stable' };
    const completions = this.#sums.length - 1;
    const deficit = Math.max(0, 1 - completions / this.#arrivals);
    const noise = 1 / Math.sqrt(this.#arrivals);
    const trend = this.#trend(completions);
    const level = Math.max(deficit, trend) < noise ? 'stable' : trend > noise ? 'overloaded' : 'backlogged';
    return { deficit, trend, noise, level };
  }

  #trend(n: number): number {
    if (n < 2) return 0;
    const first = this.#mean(0, n >> 1);
    const trend = first > 0 ? Math.max(0, this.#mean(n >> 1, n) / first - 1) : 0;
    if (n < LEAST_FOR_QUARTERS) return trend;
    const size = n >> 2;
    const ends = [0, size, 2 * size, 3 * size, n];
    for (let i = 1; i < 4; i++) {
      if (this.#mean(ends[i]!, ends[i + 1]!) <= this.#mean(ends[i - 1]!, ends[i]!)) return 0;
    }
    return trend;
  }

  #mean(from: number, to: number): number {
    return (this.#sums[to]! - this.#sums[from]!) / (to - from);
  }
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
