import type { TraceGoodputTarget } from '../../../workload/trace.js';
import type { Pair } from '../pair-requests.js';
import type { ComparedGaps } from '../token-gaps.js';

type Dimension = 'ttft' | 'itl' | 'e2e';

/** Requests of a class within their targets, measured and predicted. */
export interface GoodputOfClass {
  count: number;
  real_slo_attainment: number;
  sim_slo_attainment: number;
  real_goodput_rps: number;
  sim_goodput_rps: number;
  real_attainment_by_dim: Partial<Record<Dimension, number>>;
  sim_attainment_by_dim: Partial<Record<Dimension, number>>;
}

export interface GoodputComparison {
  targets: Record<string, Partial<Record<`${Dimension}_ms`, number>>>;
  per_class: Record<string, GoodputOfClass>;
  /** There are targets for gaps between tokens, and a side has no gaps. */
  skipped_itl?: true;
}

const LIMITS = { ttft: 'ttftUs', itl: 'itlUs', e2e: 'e2eUs' } as const;
/** The class of requests that name none. */
const NO_CLASS = 'default';

/** A pair's latencies on one side. */
type Side = Record<Dimension, number>;

/** Compares, by class, how many of the paired requests keep to their targets; null when no class has any. */
export function compareGoodput(
  pairs: readonly Pair[],
  gaps: ComparedGaps,
  targets: Readonly<Record<string, TraceGoodputTarget>>,
): GoodputComparison | null {
  const classes = Object.keys(targets).sort();
  if (classes.length === 0) return null;
  const sides = pairs.map(({ e2eUs, measured, ttftUs }, i) => ({
    name: measured.sloClass === '' ? NO_CLASS : measured.sloClass,
    real: { ttft: measured.ttftUs, itl: gaps.real[i]!, e2e: measured.e2eUs },
    sim: { ttft: ttftUs, itl: gaps.sim[i]!, e2e: e2eUs },
  }));
  const hasGaps = sides.some(({ real, sim }) => !Number.isNaN(real.itl) && !Number.isNaN(sim.itl));
  const seconds = { real: span(pairs, (pair) => pair.measured.e2eUs), sim: span(pairs, (pair) => pair.e2eUs) };
  const perClass = classes.map((name): [string, GoodputOfClass] => {
    const own = sides.filter((side) => side.name === name);
    const limits = Object.entries(LIMITS).flatMap(([dimension, key]): [Dimension, number][] => {
      const limit = targets[name]![key];
      return limit === undefined || (dimension === 'itl' && !hasGaps) ? [] : [[dimension as Dimension, limit]];
    });
    const real = attainment(
      own.map((side) => side.real),
      limits,
    );
    const sim = attainment(
      own.map((side) => side.sim),
      limits,
    );
    return [
      name,
      {
        count: own.length,
        real_slo_attainment: share(real.good, own.length),
        sim_slo_attainment: share(sim.good, own.length),
        real_goodput_rps: share(real.good, seconds.real),
        sim_goodput_rps: share(sim.good, seconds.sim),
        real_attainment_by_dim: real.byDimension,
        sim_attainment_by_dim: sim.byDimension,
      },
    ];
  });
  const skipsItl = !hasGaps && classes.some((name) => targets[name]!.itlUs !== undefined);
  return {
    targets: Object.fromEntries(classes.map((name) => [name, inMs(targets[name]!)])),
    per_class: Object.fromEntries(perClass),
    ...(skipsItl ? { skipped_itl: true as const } : {}),
  };
}

function attainment(sides: readonly Side[], limits: readonly [Dimension, number][]) {
  // A request of one token has no gap, so it keeps to every target for gaps.
  const keeps = (side: Side, [dimension, limit]: readonly [Dimension, number]) => !(side[dimension] > limit);
  return {
    good: sides.filter((side) => limits.every((limit) => keeps(side, limit))).length,
    byDimension: Object.fromEntries(
      limits.map((limit) => [limit[0], share(sides.filter((side) => keeps(side, limit)).length, sides.length)]),
    ),
  };
}

/** Seconds from the first sending to the last end. */
function span(pairs: readonly Pair[], e2eUs: (pair: Pair) => number): number {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const pair of pairs) {
    first = Math.min(first, pair.measured.sentUs);
    last = Math.max(last, pair.measured.sentUs + e2eUs(pair));
  }
  return (last - first) / 1e6;
}

function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}

function inMs(target: TraceGoodputTarget): Partial<Record<`${Dimension}_ms`, number>> {
  const entries = Object.entries(LIMITS).flatMap(([dimension, key]): [string, number][] =>
    target[key] === undefined ? [] : [[`${dimension}_ms`, target[key] / 1000]],
  );
  return Object.fromEntries(entries);
}
