import type { SaturationFindings } from '../../result-document.js';

/** What the findings do not know of the run. */
interface RunFacts {
  /** Requests that the fleet generates tokens for at a time, at most. */
  places: number;
  timedOut: number;
}

/** The findings in one sentence, for readers of tables, reports and warnings. */
export function saturationVerdict(found: SaturationFindings, { places, timedOut }: RunFacts): string {
  const late = timedOut === 0 ? '' : `; ${whole(timedOut)} timed out`;
  return `${stateText(found, places)}${late}`;
}

function stateText(found: SaturationFindings, places: number): string {
  const arrive = `${rate(found.arrival_rps)} requests/s`;
  switch (found.state) {
    case 'keeps-up':
      return `the fleet keeps up with ${arrive}`;
    case 'no-rate':
      return 'no rate to keep: few requests, all at once, or clients that wait for responses';
    case 'too-short':
      return `too short to tell: requests in flight still grew when the last one arrived; ${arrive} take at least ${whole(found.enough_requests!)} requests to settle`;
    case 'saturated':
      return `saturated: ${arrive} arrive and the fleet ${keeps(found, places)}; the backlog grew until the last arrival${ttftRise(found)}`;
  }
}

function keeps({ kept_rps, at_most_rps, arrival_rps }: SaturationFindings, places: number): string {
  if (kept_rps !== null) return `keeps ${rate(kept_rps)}`;
  if (at_most_rps === null || at_most_rps > arrival_rps) return 'falls behind';
  return `keeps at most ${rate(at_most_rps)}, with places for ${whole(places)} requests at a time`;
}

function ttftRise({ ttft_early_ms, ttft_late_ms, in_flight }: SaturationFindings): string {
  if (ttft_late_ms === null || ttft_early_ms === null || ttft_late_ms < 2 * ttft_early_ms) {
    return `, to ${whole(in_flight)} requests in flight`;
  }
  return `, and TTFT rose from ${duration(ttft_early_ms)} to ${duration(ttft_late_ms)}`;
}

function rate(value: number): string {
  return value >= 100 ? whole(value) : value.toFixed(value >= 1 ? 1 : 2);
}

function whole(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
