import type { LoadLevel } from '../../../result-document.js';
import type { DetectorFinding, LoadDetector } from './load-detector.js';

/** A line through fewer points says nothing. */
const LEAST_BUCKETS = 5;

/**
 * The growth of requests in flight over the time so far, by the least-squares line through their number at the end of each
 * bucket, as a share of what arrived, against what chance explains.
 */
export class BacklogDriftDetector implements LoadDetector {
  readonly #bucketUs: number;
  readonly #factor: number;
  #startUs: number | null = null;
  #arrivals = 0;
  #inFlight = 0;
  /** Buckets that have ended, and the sums over them of the number in flight, and of it times their place. */
  #ended = 0;
  #sum = 0;
  #weighted = 0;

  /** @param factor growth above this many times what chance explains is an overload */
  constructor(bucketUs: number, factor: number) {
    this.#bucketUs = bucketUs;
    this.#factor = factor;
  }

  arrived(atUs: number): void {
    this.#moveTo(atUs);
    this.#arrivals++;
    this.#inFlight++;
  }

  completed(atUs: number): void {
    this.#moveTo(atUs);
    this.#inFlight--;
  }

  level(): LoadLevel {
    return this.#judge().level;
  }

  finding(): DetectorFinding {
    const { growth, level, noise } = this.#judge();
    return {
      level,
      why: level === 'stable' ? '' : `backlog grew by ${(100 * growth).toFixed(1)} % of the arrivals`,
      signals: { growth_share: growth, in_flight: this.#inFlight, noise_floor: noise },
    };
  }

  #moveTo(atUs: number): void {
    this.#startUs ??= atUs;
    // Without a width all events are in one bucket.
    const bucket = this.#bucketUs > 0 ? Math.floor((atUs - this.#startUs) / this.#bucketUs) : 0;
    for (; this.#ended < bucket; this.#ended++) {
      this.#sum += this.#inFlight;
      this.#weighted += this.#ended * this.#inFlight;
    }
  }

  #judge(): { growth: number; noise: number; level: LoadLevel } {
    const n = this.#ended + 1;
    const noise = this.#arrivals === 0 ? 1 : 1 / Math.sqrt(this.#arrivals);
    if (n < LEAST_BUCKETS) return { growth: 0, noise, level: 'stable' };
    const sum = this.#sum + this.#inFlight;
    const weighted = this.#weighted + this.#ended * this.#inFlight;
    const slope = (weighted - ((n - 1) / 2) * sum) / ((n * (n * n - 1)) / 12);
    const growth = Math.max(0, (slope * (n - 1)) / this.#arrivals);
    const level = growth <= noise ? 'stable' : growth <= this.#factor * noise ? 'backlogged' : 'overloaded';
    return { growth, noise, level };
  }
}
