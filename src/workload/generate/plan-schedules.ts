import type { GapSampler } from '../arrivals/arrival-process.js';
import { arrivalProcess } from '../arrivals/registry.js';
import { workloadImpossible } from '../errors.js';
import { MAX_REQUESTS } from '../spec/limits.js';
import { hasUsers, isCohort, trafficOf } from '../spec/walk.js';
import type { ArrivalSpec, ClientSpec, CohortSpec, WorkloadSpec } from '../spec/workload-spec.js';
import { RateShares } from './rate-shares.js';
import { LoneSchedule } from './schedules/lone-schedule.js';
import { activeTimesOf, ownWindowsOf } from './schedules/patterns.js';
import type { Schedule } from './schedules/schedule.js';
import { SteadySchedule } from './schedules/steady-schedule.js';
import { UserSchedule } from './schedules/user-schedule.js';
import { type PlannedWindow, WindowSchedule } from './schedules/window-schedule.js';
import { planTraffic, type Traffic } from './traffic.js';

/** Rates times durations are whole numbers up to rounding errors. */
const ROUNDING = 1e-9;

/** Every sender, in the order of the specification: clients, then cohorts. */
export function planClients(spec: WorkloadSpec, horizonUs: number, timeoutUs: number | undefined): Traffic[] {
  const shares = new RateShares(spec);
  return [...trafficOf(spec)].map(({ traffic }) =>
    planTraffic(traffic, scheduleOf(traffic, shares, horizonUs), timeoutUs),
  );
}

function scheduleOf(traffic: ClientSpec | CohortSpec, shares: RateShares, horizonUs: number): Schedule {
  const members = isCohort(traffic) ? traffic.population : 1;
  if (hasUsers(traffic)) {
    return new UserSchedule(traffic.concurrency, traffic.think_time_us ?? 0, activeTimesOf(traffic), horizonUs);
  }
  const start = traffic.reasoning?.multi_turn?.start_us;
  if (start !== undefined) return new LoneSchedule(start, members, horizonUs);
  const windows = ownWindowsOf(traffic);
  if (windows.length === 0) {
    const gaps = gapSamplerOf(traffic.arrival, shares.rateOf(traffic) / members);
    return new SteadySchedule(gaps, activeTimesOf(traffic), members, horizonUs);
  }
  // Requests of windows have prefixes and deadlines like all others, and clients without windows continue next to
  // them: that BLIS leaves all three out is a defect.
  const planned = windows.map((window): PlannedWindow => {
    const rate = shares.rateIn(traffic, window);
    // As many gaps as fit; the last one ends the window, so that it has one request less.
    const requests = Math.ceil((rate * (window.end_us - window.start_us)) / 1e6 - ROUNDING) - 1;
    if (requests > MAX_REQUESTS) {
      const problem = `a window from ${window.start_us} to ${window.end_us} us holds ${requests} requests`;
      throw workloadImpossible(traffic.id, problem, `give a lower rate or a shorter window: at most ${MAX_REQUESTS}`);
    }
    const gaps = gapSamplerOf(window.arrival ?? traffic.arrival, rate / members);
    return { startUs: window.start_us, endUs: window.end_us, gaps, requests: Math.max(0, requests) };
  });
  return new WindowSchedule(planned, members, horizonUs);
}

/** @param rate requests per second */
export function gapSamplerOf(arrival: ArrivalSpec | undefined, rate: number): GapSampler {
  const { process = 'poisson', cv = 0, shape = 0, scale = 0 } = arrival ?? {};
  return arrivalProcess(process).create(Math.min(1e6 / rate, 1e300), { cv, shape, scaleUs: scale });
}
