import type { FinishedRequest } from '../request/request-record.js';

/** Requests are summed up in steps of this length; the last `STEPS` are kept: half an hour. */
export const STEP_S = 10;
const STEPS = 180;
/** Endpoints beyond this many are not counted: their requests are in the metrics all the same. */
const MOST_ENDPOINTS = 1000;

/** Sums of a step, in this order. */
const SUMS = ['requests', 'errors', 'refused', 'inputTokens', 'cachedTokens', 'outputTokens'] as const;
export type TrafficSums = Record<(typeof SUMS)[number], number>;
const WIDTH = SUMS.length;

/** Upper bounds of the times to first token, in microseconds: each a fourth more than the one before, from 1 ms to 2 min. */
const BOUNDS_US = Array.from({ length: 54 }, (_, i) => 1000 * 1.25 ** i);

interface EndpointSteps {
  readonly sums: Float64Array;
  /** Times to first token by bound; the last one is for longer ones. */
  readonly waits: Uint32Array;
  /** The number of the step that each place holds. */
  readonly held: Float64Array;
}

/** A range of steps of one or several endpoints. */
export interface TrafficStep extends TrafficSums {
  /** Bounds of the percentiles; null where no stream has begun. */
  readonly ttftP50Ms: number | null;
  readonly ttftP95Ms: number | null;
}

/**
 * What the endpoints of a gateway served in the last half hour, in steps of ten seconds. A request adds to a few numbers: nothing
 * is allocated but for the first request of an endpoint.
 */
export class TrafficSeries {
  readonly #endpoints = new Map<string, EndpointSteps>();
  readonly #nowUs: () => number;
  readonly #isServed: (endpoint: string) => boolean;

  /** @param isServed whether there is an endpoint of a name: what was one is forgotten */
  constructor(nowUs: () => number, isServed: (endpoint: string) => boolean) {
    this.#nowUs = nowUs;
    this.#isServed = isServed;
  }

  ended(request: FinishedRequest): void {
    const steps = this.#stepsOf(request.endpoint.name);
    if (steps === null) return;
    const at = place(steps, Math.floor(request.endedUs / (STEP_S * 1e6)));
    const { sums, waits } = steps;
    const first = at * WIDTH;
    sums[first]!++;
    if (isError(request.outcome)) sums[first + 1]!++;
    if (request.outcome === 'refused') sums[first + 2]!++;
    if (request.attempts > 0) {
      sums[first + 3]! += request.inputTokens;
      sums[first + 4]! += request.cachedTokens;
      sums[first + 5]! += request.outputTokens;
    }
    if (request.firstTokenUs >= 0) {
      waits[at * (BOUNDS_US.length + 1) + boundOf(request.firstTokenUs - request.arrivedUs)]!++;
    }
  }

  /** The number of the step that is under way. */
  get step(): number {
    return Math.floor(this.#nowUs() / (STEP_S * 1e6));
  }

  /** Steps `from` up to `to`, without it, of the endpoints of these names, as one. */
  sum(names: Iterable<string>, from: number, to: number): TrafficStep {
    const sums = new Float64Array(WIDTH);
    const waits = new Float64Array(BOUNDS_US.length + 1);
    for (const name of names) {
      const steps = this.#endpoints.get(name);
      if (steps === undefined) continue;
      for (let step = Math.max(from, to - STEPS, 0); step < to; step++) {
        const at = step % STEPS;
        if (steps.held[at] !== step) continue;
        for (let i = 0; i < WIDTH; i++) sums[i]! += steps.sums[at * WIDTH + i]!;
        for (let i = 0; i < waits.length; i++) waits[i]! += steps.waits[at * waits.length + i]!;
      }
    }
    const named = Object.fromEntries(SUMS.map((name, i) => [name, sums[i]!])) as TrafficSums;
    return { ...named, ttftP50Ms: quantileMs(waits, 0.5), ttftP95Ms: quantileMs(waits, 0.95) };
  }

  /** What some endpoints served is counted no more. */
  forget(isOf: (endpoint: string) => boolean): void {
    for (const name of this.#endpoints.keys()) if (isOf(name)) this.#endpoints.delete(name);
  }

  #stepsOf(name: string): EndpointSteps | null {
    const known = this.#endpoints.get(name);
    if (known !== undefined) return known;
    for (const one of this.#endpoints.keys()) if (!this.#isServed(one)) this.#endpoints.delete(one);
    if (this.#endpoints.size >= MOST_ENDPOINTS || !this.#isServed(name)) return null;
    const made: EndpointSteps = {
      sums: new Float64Array(STEPS * WIDTH),
      waits: new Uint32Array(STEPS * (BOUNDS_US.length + 1)),
      held: new Float64Array(STEPS).fill(-1),
    };
    this.#endpoints.set(name, made);
    return made;
  }
}

/** Whether the request failed although it was accepted. */
function isError(outcome: FinishedRequest['outcome']): boolean {
  return outcome === 'upstream_error' || outcome === 'timeout' || outcome === 'no_replica' || outcome === 'fault';
}

/** The place of a step, which is emptied when it held another one. */
function place({ held, sums, waits }: EndpointSteps, step: number): number {
  const at = step % STEPS;
  if (held[at] === step) return at;
  held[at] = step;
  sums.fill(0, at * WIDTH, (at + 1) * WIDTH);
  waits.fill(0, at * (BOUNDS_US.length + 1), (at + 1) * (BOUNDS_US.length + 1));
  return at;
}

function boundOf(us: number): number {
  if (us <= BOUNDS_US[0]!) return 0;
  const guess = Math.ceil(Math.log(us / 1000) / Math.log(1.25));
  return Math.min(guess, BOUNDS_US.length);
}

/** The share of a bucket that lies below the quantile is taken of its width. */
function quantileMs(counts: Float64Array, share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = total * share;
  for (let i = 0; i < BOUNDS_US.length; i++) {
    const count = counts[i]!;
    if (left <= count && count > 0) {
      const lower = i === 0 ? 0 : BOUNDS_US[i - 1]!;
      return (lower + (BOUNDS_US[i]! - lower) * (left / count)) / 1000;
    }
    left -= count;
  }
  return BOUNDS_US.at(-1)! / 1000;
}
