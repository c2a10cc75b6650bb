import { isCohort, windowsOf } from '../../spec/walk.js';
import type { ClientSpec, CohortSpec, WindowSpec } from '../../spec/workload-spec.js';
import { ActiveTimes } from './active-times.js';

const HOUR_US = 3_600_000_000;
const DRAIN_STEPS = 10;

/** When a client or cohort is active; null for always. */
export function activeTimesOf(traffic: ClientSpec | CohortSpec): ActiveTimes | null {
  if (!isCohort(traffic)) return traffic.lifecycle === undefined ? null : new ActiveTimes(traffic.lifecycle.windows);
  if (traffic.diurnal !== undefined) return new ActiveTimes(diurnalWindows(traffic.diurnal), 24 * HOUR_US);
  if (traffic.drain !== undefined) return new ActiveTimes(drainWindows(traffic.drain));
  return traffic.spike === undefined ? null : new ActiveTimes(spikeWindows(traffic.spike));
}

/** Windows with settings besides their times: each is then generated separately. Empty when there are none. */
export function ownWindowsOf(traffic: ClientSpec | CohortSpec): readonly WindowSpec[] {
  const windows = isCohort(traffic) && traffic.spike !== undefined ? spikeWindows(traffic.spike) : windowsOf(traffic);
  return windows.some(saysMore) ? windows : [];
}

function saysMore({ start_us: _from, end_us: _to, ...own }: WindowSpec): boolean {
  return Object.values(own).some((value) => value !== undefined);
}

/** Each hour begins with an active part: the whole hour at the peak, less by a cosine towards the trough. */
export function diurnalWindows(diurnal: NonNullable<CohortSpec['diurnal']>): WindowSpec[] {
  const least = 1 / diurnal.peak_to_trough_ratio;
  return Array.from({ length: 24 }, (_, hour) => {
    const wave = (1 + Math.cos((2 * Math.PI * (hour - diurnal.peak_hour)) / 24)) / 2;
    const start_us = hour * HOUR_US;
    return { start_us, end_us: start_us + Math.round(HOUR_US * (wave * (1 - least) + least)) };
  });
}

function spikeWindows({ start_time_us, duration_us, trace_rate }: NonNullable<CohortSpec['spike']>): WindowSpec[] {
  const window = { start_us: start_time_us, end_us: start_time_us + duration_us };
  return [trace_rate === undefined ? window : { ...window, trace_rate }];
}

/** Active until the drain starts, then in ten steps for all, 90 %, ... 10 % of the step. */
export function drainWindows({ start_time_us, ramp_duration_us }: NonNullable<CohortSpec['drain']>): WindowSpec[] {
  const step = ramp_duration_us / DRAIN_STEPS;
  const ramp = Array.from({ length: DRAIN_STEPS }, (_, i) => {
    const start_us = Math.round(start_time_us + i * step);
    return { start_us, end_us: start_us + Math.round(step * (1 - i / DRAIN_STEPS)) };
  });
  return start_time_us === 0 ? ramp : [{ start_us: 0, end_us: start_time_us }, ...ramp];
}
