import type { Saturation } from '../../result-document.js';

/** A fleet that keeps up, unless changed. */
export function fakeSaturation(changes: Partial<Saturation> = {}): Saturation {
  return {
    state: 'keeps-up',
    verdict: 'the fleet keeps up with 10.0 requests/s',
    arrival_rps: 10,
    kept_rps: null,
    at_most_rps: null,
    backlog_slope_rps: 0,
    in_flight: 3,
    waiting: 0,
    ttft_early_ms: 20,
    ttft_late_ms: 20,
    enough_requests: null,
    ...changes,
  };
}
