import { hasRate, trafficOf } from '../spec/walk.js';
import type { ClientSpec, CohortSpec, WindowSpec, WorkloadSpec } from '../spec/workload-spec.js';
import { ActiveTimes } from './schedules/active-times.js';
import { activeTimesOf, ownWindowsOf } from './schedules/patterns.js';

interface Sharer {
  fraction: number;
  active: ActiveTimes | null;
  windows: readonly { times: ActiveTimes; share: number }[];
}

/** Divides the aggregate rate: a share counts over the sum of the shares of all that are active at the same time. */
export class RateShares {
  readonly #aggregate: number;
  readonly #sharers = new Map<ClientSpec | CohortSpec, Sharer>();
  /** The sum of all shares, which holds for most clients: computed once. */
  #total = 0;

  constructor(spec: WorkloadSpec) {
    this.#aggregate = spec.aggregate_rate ?? 0;
    for (const { traffic } of trafficOf(spec)) {
      if (!hasRate(traffic)) continue;
      const fraction = traffic.rate_fraction ?? 1;
      const windows = ownWindowsOf(traffic).map((window) => ({
        times: new ActiveTimes([window]),
        share: window.trace_rate ?? fraction,
      }));
      const sharer = { fraction, active: activeTimesOf(traffic), windows };
      this.#sharers.set(traffic, sharer);
      this.#total += shareDuring(sharer, null);
    }
  }

  /** Requests per second of a client, or of a cohort's members together, whenever it is active. */
  rateOf(traffic: ClientSpec | CohortSpec): number {
    const { fraction, active } = this.#sharers.get(traffic)!;
    return (this.#aggregate * fraction) / this.#sumOf(active);
  }

  /** The same in one of its windows. */
  rateIn(traffic: ClientSpec | CohortSpec, window: WindowSpec): number {
    if (this.#aggregate === 0) return window.trace_rate!;
    const share = window.trace_rate ?? traffic.rate_fraction ?? 1;
    return (this.#aggregate * share) / this.#sumOf(new ActiveTimes([window]));
  }

  #sumOf(times: ActiveTimes | null): number {
    if (times === null) return this.#total;
    let sum = 0;
    for (const sharer of this.#sharers.values()) sum += shareDuring(sharer, times);
    return sum;
  }
}

/** The share while others are active; 0 for one that is never active at the same time. */
function shareDuring({ fraction, active, windows }: Sharer, times: ActiveTimes | null): number {
  if (times === null || active === null) return windows[0]?.share ?? fraction;
  if (windows.length === 0) return active.meets(times) ? fraction : 0;
  return windows.find((window) => window.times.meets(times))?.share ?? 0;
}
