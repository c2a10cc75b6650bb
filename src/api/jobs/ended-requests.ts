import type { PastRequest } from '../../gateway/history/request-ring.js';
import { mean, percentile } from '../../kernel/percentile.js';
import type { GuardMetric } from './guard-metrics.js';

/** Values that are kept; of more requests, every second one, then every fourth, and so on. */
const MOST_KEPT = 65_536;
/** The metric may be worse by chance: at each look before the end it has to be beyond this many standard errors. */
const SURE = 3;

/** A metric of requests, from how many, and the least that it may be in truth. */
export interface GuardValue {
  readonly value: number;
  readonly least: number;
  readonly requests: number;
}

type Times = Pick<PastRequest, 'arrivedUs' | 'endedUs' | 'firstTokenUs' | 'outcome'>;

/** The requests of one endpoint that have ended, as far as one metric needs them: a bounded number, however long it is followed. */
export class EndedRequests {
  readonly #metric: GuardMetric;
  readonly #most: number;
  /** Milliseconds; for `errors` 0 and 1. */
  #values: number[] = [];
  #every = 1;
  #seen = 0;

  constructor(metric: GuardMetric, most = MOST_KEPT) {
    this.#metric = metric;
    this.#most = most;
  }

  add({ arrivedUs, endedUs, firstTokenUs, outcome }: Times): void {
    if (outcome === 'client_left') return;
    const isTtft = this.#metric.startsWith('ttft');
    if (this.#metric === 'errors') this.#keep(outcome === 'ok' ? 0 : 1);
    else if (outcome === 'ok' && !(isTtft && firstTokenUs < 0))
      this.#keep(((isTtft ? firstTokenUs : endedUs) - arrivedUs) / 1000);
  }

  get requests(): number {
    return this.#seen;
  }

  measure(): GuardValue {
    const requests = this.#seen;
    const sorted = Float64Array.from(this.#values).sort();
    const count = sorted.length;
    if (count === 0) return { value: 0, least: 0, requests };
    const average = mean(sorted);
    if (this.#metric === 'errors' || this.#metric.endsWith('mean')) {
      const squares = sorted.reduce((sum, value) => sum + (value - average) ** 2, 0);
      const error = Math.sqrt(squares / Math.max(1, count - 1) / count);
      return { value: average, least: average - SURE * error, requests };
    }
    const rank = Number(this.#metric.slice(this.#metric.indexOf('_p') + 2));
    const ranksOff = SURE * Math.sqrt((rank * (100 - rank)) / count);
    return {
      value: percentile(sorted, rank),
      least: percentile(sorted, Math.max(0, rank - ranksOff)),
      requests,
    };
  }

  #keep(value: number): void {
    if (this.#seen++ % this.#every !== 0) return;
    this.#values.push(value);
    if (this.#values.length < this.#most) return;
    this.#values = this.#values.filter((_, i) => i % 2 === 0);
    this.#every *= 2;
  }
}
