import { mean } from '../../kernel/percentile.js';
import { variation } from './fit-arrival.js';

/** When the sessions of a client begin: windows in order of time, without overlap. */
export interface ActiveWindows {
  windows: { start_us: number; end_us: number }[];
  /** The sum of their lengths. */
  activeUs: number;
}

/** Gaps that vary more than this do not come from one process: there are pauses between them. */
const GREATEST_VARIATION = 4;
/** Mean gaps without a request: a pause. */
const PAUSE_GAPS = 20;
/**
 * Sessions begin early when, evenly spread, they would be over by this share of the time, and by this many standard
 * errors.
 */
const EARLY = 0.95;
const STANDARD_ERRORS = 2;

/**
 * @param begins ascending, from the start of the trace
 * @param tickUs of the trace's clock; gaps between ticks are no pauses
 */
export function activeWindows(begins: Float64Array, durationUs: number, tickUs: number): ActiveWindows {
  const gaps = gapsBetween(begins);
  const pauseUs = PAUSE_GAPS * mean(gaps);
  if (tickUs === 0 && variation(gaps) > GREATEST_VARIATION && begins[0]! < pauseUs) {
    return betweenPauses(begins, pauseUs, durationUs);
  }
  // As if they began evenly up to twice the mean: long sessions begin early, or their turns would not be in the trace.
  const end = Math.round(2 * mean(begins));
  const chance = (2 * STANDARD_ERRORS) / Math.sqrt(12 * begins.length);
  const isEarly = end > 0 && end < Math.min(EARLY, 1 - chance) * durationUs;
  return windowed([{ start_us: 0, end_us: isEarly ? end : durationUs }]);
}

export function gapsBetween(times: Float64Array): Float64Array {
  const gaps = new Float64Array(Math.max(0, times.length - 1));
  for (let i = 0; i < gaps.length; i++) gaps[i] = times[i + 1]! - times[i]!;
  return gaps;
}

/** How much of the active time is over at this time. */
export function activeUntil({ windows }: ActiveWindows, atUs: number): number {
  let sum = 0;
  for (const { start_us, end_us } of windows) sum += Math.max(0, Math.min(atUs, end_us) - start_us);
  return sum;
}

function betweenPauses(begins: Float64Array, pauseUs: number, durationUs: number): ActiveWindows {
  const runs: { first: number; last: number }[] = [];
  let ownUs = 0;
  for (let i = 0; i < begins.length; i++) {
    const gap = i === 0 ? Number.POSITIVE_INFINITY : begins[i]! - begins[i - 1]!;
    if (gap > pauseUs) {
      runs.push({ first: begins[i]!, last: begins[i]! });
    } else {
      ownUs += gap;
      runs[runs.length - 1]!.last = begins[i]!;
    }
  }
  // A run of n requests takes n gaps, though only n - 1 are in it.
  const around = Math.max(1, ownUs / Math.max(1, begins.length - runs.length) / 2);
  return windowed(
    runs.map(({ first, last }, i) => ({
      start_us: i === 0 ? 0 : Math.round(first - around),
      end_us: Math.min(durationUs, Math.round(last + around)),
    })),
  );
}

function windowed(windows: ActiveWindows['windows']): ActiveWindows {
  return { windows, activeUs: windows.reduce((sum, { start_us, end_us }) => sum + end_us - start_us, 0) };
}
