import { percentile } from '../../../kernel/percentile.js';
import type { SaturationFindings } from '../../result-document.js';
import { loadBins, type RequestTimes } from './load-bins.js';

/** Requests and the fleet that they were sent to, as plain data. */
export interface ObservedLoad extends RequestTimes {
  /** The last arrival that is no response to another request: later ones follow from the fleet's own pace. */
  arrivalsEndUs: number;
  /** When the run ended. */
  endUs: number;
  /** Requests that the fleet generates tokens for at a time, at most; Infinity where it is not known. */
  places: number;
}

/** With fewer requests neither a rate nor a trend can be seen. */
const LEAST_REQUESTS = 20;
/** A multiple of four: quarters are compared. */
const BINS = 40;
/** Requests in flight at the end, as a share of the most there ever were: with less, the backlog had begun to drain. */
const NEAR_MOST = 0.8;
/** The least growth of requests in flight, as a share of what arrived meanwhile; and growth that no start explains. */
const LEAST_GROWTH = 0.03;
const FAST_GROWTH = 0.1;
const STEADY_GROWTH = 0.15;
/** Growth that chance explains, in standard deviations of the number in flight. */
const CHANCE = 2;
/** The least rise of the median TTFT: as a factor, and as a share of the time in which it rose. */
const TTFT_FACTOR = 1.5;
const STEEP_FACTOR = 2;
const TTFT_SLOPE = 0.02;
/** A queue: this share of all requests, as a multiple of what chance explains, and of what works on its prompt. */
const QUEUE_SHARE = 0.05;
const QUEUE_CHANCE = 1;
const QUEUE_FACTOR = 3;
/** Requests in batches that grow by less than this factor from one quarter to the next fill them. */
const FULL_FACTOR = 1.1;
/** A fleet has settled when requests have arrived for this many times as long as one takes. */
const SETTLED = 4;
/** Medians are taken from about this many requests: more would not change them. */
const SAMPLE = 4096;

/**
 * Judges a run from when its requests came and went. The thresholds come from 2,100 simulated runs with a known capacity
 * (six fleets, constant, Poisson and bursty arrivals, 100 to 6,000 requests): of those below 87 % of it none is called
 * saturated, and of those above 140 % with 600 requests or more none is said to keep up.
 */
export function detectSaturation(load: ObservedLoad): SaturationFindings {
  const { arrivalUs, arrivalsEndUs } = load;
  let fromUs = Number.POSITIVE_INFINITY;
  for (let row = 0; row < arrivalUs.length; row++) fromUs = Math.min(fromUs, arrivalUs[row]!);
  const spanS = (arrivalsEndUs - fromUs) / 1e6;
  const takesS = meanSeconds(load);
  const lowTtftS = lowTtftMs(load) / 1000;
  // Requests that come within the time of a first token come at once: how quickly is no load that lasts.
  if (arrivalUs.length < LEAST_REQUESTS || !(spanS > lowTtftS) || takesS === null) return NO_RATE;

  const seen = loadBins(load, fromUs, arrivalsEndUs, BINS, load.endUs);
  const arrived = sum(seen.arrivals);
  const arrival_rps = arrived / spanS;
  const inFlight = quarters(seen.inFlight);
  const waiting = quarters(seen.inFlight.map((value, bin) => value - seen.generating[bin]!));
  const ttft = medianTtftMs(load, fromUs, arrivalsEndUs);
  const [, early, , late] = ttft;
  const grown = inFlight[3]! - inFlight[1]!;
  const found: SaturationFindings = {
    ...NO_RATE,
    state: 'keeps-up',
    arrival_rps,
    backlog_slope_rps: grown / (spanS / 2),
    in_flight: inFlight[3]!,
    waiting: waiting[3]!,
    ttft_early_ms: early!,
    ttft_late_ms: late!,
  };
  if (grown <= 0 || seen.inFlight.at(-1)! < NEAR_MOST * most(seen.inFlight)) return found;

  const grownShare = grown / (arrived / 2);
  const grew =
    grownShare > LEAST_GROWTH &&
    grown > CHANCE * Math.sqrt(inFlight[1]!) &&
    inFlight[3]! > inFlight[2]! &&
    inFlight[2]! > inFlight[1]!;
  const enough = Math.ceil(SETTLED * takesS * arrival_rps);
  // Without a first token at all late requests wait for ever.
  const rose = late === null || late! > TTFT_FACTOR * (early ?? 0);
  const roseSteadily = late === null || (late! - (early ?? 0)) / 1000 > TTFT_SLOPE * (spanS / 2);
  const isQueue =
    waiting[3]! >
    Math.max(QUEUE_SHARE * arrived, QUEUE_CHANCE * Math.sqrt(arrived), QUEUE_FACTOR * arrival_rps * lowTtftS);
  const queueGrew =
    waiting[3]! > Math.sqrt(arrived) / 2 && waiting[3]! - waiting[1]! > grown / 4 && rose && roseSteadily;
  const isSteep = late === null || late! > STEEP_FACTOR * (early ?? 0);
  const outlastsStart = enough < arrived && grownShare > FAST_GROWTH && isSteep;
  const at_most_rps = takesS > 0 ? load.places / takesS : Number.POSITIVE_INFINITY;
  if (isQueue || (grew && (queueGrew || outlastsStart || arrival_rps > at_most_rps))) {
    const generating = quarters(seen.generating);
    const isFull = (isQueue || queueGrew) && generating[3]! <= FULL_FACTOR * generating[2]!;
    return {
      ...found,
      state: 'saturated',
      kept_rps: isFull ? keptRps(load, fromUs) : null,
      at_most_rps: Number.isFinite(at_most_rps) ? at_most_rps : null,
    };
  }
  const isStarting = grew && (enough > arrived || grownShare > STEADY_GROWTH);
  // A queue that chance may explain: more requests would tell.
  const isDoubtful = isSteep && roseSteadily;
  if (!isStarting && !isDoubtful) return found;
  return { ...found, state: 'too-short', enough_requests: Math.max(enough, 2 * arrived) };
}

const NO_RATE: SaturationFindings = {
  state: 'no-rate',
  arrival_rps: 0,
  kept_rps: null,
  at_most_rps: null,
  backlog_slope_rps: 0,
  in_flight: 0,
  waiting: 0,
  ttft_early_ms: null,
  ttft_late_ms: null,
  enough_requests: null,
};

/** What the fleet serves while its queue is at least half as long as it ever was: new prompts still take their part. */
function keptRps(load: ObservedLoad, fromUs: number): number {
  const { inFlight, generating, served, binUs } = loadBins(load, fromUs, load.endUs, 4 * BINS, load.endUs);
  const waiting = inFlight.map((value, bin) => value - generating[bin]!);
  const least = most(waiting) / 2;
  const bins = [...waiting.keys()].filter((bin) => waiting[bin]! >= least);
  return bins.reduce((total, bin) => total + served[bin]!, 0) / ((bins.length * binUs) / 1e6);
}

/** How long a request takes from its first token to its last, which is no waiting; null when none was completed. */
function meanSeconds({ ttftUs, e2eUs }: RequestTimes): number | null {
  let total = 0;
  let completed = 0;
  for (let row = 0; row < e2eUs.length; row++) {
    if (Number.isNaN(e2eUs[row]!)) continue;
    total += e2eUs[row]! - ttftUs[row]!;
    completed++;
  }
  return completed === 0 ? null : total / completed / 1e6;
}

/** Of the requests that arrived in each quarter; null where none of them has a first token. */
function medianTtftMs({ arrivalUs, ttftUs }: RequestTimes, fromUs: number, toUs: number): (number | null)[] {
  const groups: number[][] = [[], [], [], []];
  const stride = Math.ceil(arrivalUs.length / (4 * SAMPLE));
  for (let row = 0; row < arrivalUs.length; row += stride) {
    const place = (4 * (arrivalUs[row]! - fromUs)) / (toUs - fromUs);
    if (place <= 4 && !Number.isNaN(ttftUs[row]!)) groups[Math.min(3, Math.floor(place))]!.push(ttftUs[row]!);
  }
  return groups.map((group) => (group.length === 0 ? null : percentile(Float64Array.from(group).sort(), 50) / 1000));
}

/** Of a request that hardly waits: the 5th percentile. */
function lowTtftMs({ ttftUs }: RequestTimes): number {
  const stride = Math.ceil(ttftUs.length / SAMPLE);
  const some = Float64Array.from({ length: Math.floor(ttftUs.length / stride) }, (_, i) => ttftUs[i * stride]!);
  const known = some.filter((us) => !Number.isNaN(us)).sort();
  return known.length === 0 ? 0 : percentile(known, 5) / 1000;
}

function quarters(values: Float64Array): number[] {
  const width = values.length / 4;
  return [0, 1, 2, 3].map((i) => sum(values.subarray(i * width, (i + 1) * width)) / width);
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}

function most(values: Float64Array): number {
  return values.reduce((highest, value) => Math.max(highest, value), 0);
}
