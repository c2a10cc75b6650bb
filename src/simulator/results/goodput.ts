import type { RequestOutcomes } from '../../replica/request-outcomes.js';
import { STATUS } from '../../replica/request-outcomes.js';
import type { RequestTable } from '../../workload/request-table.js';
import { EVERY_CLASS, type GoodputTarget } from '../cluster-config.js';
import type { ClassGoodput, Goodput } from '../result-document.js';
import { rowsByClass } from './class-metrics.js';
import { p99Ms } from './latency-spread.js';
import { itlMeanUs, type RequestSampler } from './request-sample.js';

type Dimension = 'ttft' | 'itl' | 'e2e';

const LIMIT: Record<Dimension, keyof GoodputTarget> = { ttft: 'ttftUs', itl: 'itlUs', e2e: 'e2eUs' };

function measured(outcomes: RequestOutcomes, row: number, dimension: Dimension): number {
  if (dimension === 'ttft') return outcomes.ttftUs[row]!;
  return dimension === 'e2e' ? outcomes.e2eUs[row]! : itlMeanUs(outcomes, row);
}

/**
 * Requests that met every target of their class, against all that arrived. Classes without a target do not count;
 * a rejected or lost request of a class with one counts as not good.
 */
export function goodput(
  table: RequestTable,
  outcomes: RequestOutcomes,
  sampler: RequestSampler,
  targets: Record<string, GoodputTarget>,
  seconds: number,
): Goodput | undefined {
  if (Object.keys(targets).length === 0) return undefined;
  const groups = rowsByClass(table);
  const { [EVERY_CLASS]: ofAll, ...named } = targets;
  const present = [...groups].flatMap(([name, rows]) => (rows.length > 0 ? name : []));
  const classes = [...new Set([...Object.keys(named), ...(ofAll === undefined ? [] : present)])].sort();
  const perClass: Record<string, ClassGoodput> = {};
  let good = 0;
  let arrived = 0;
  for (const name of classes) {
    const rows = (groups.get(name) ?? new Int32Array(0)).filter((row) => outcomes.status[row] !== STATUS.not_arrived);
    const target = { ...ofAll, ...named[name] };
    const dimensions = (['ttft', 'itl', 'e2e'] as const).filter((d) => target[LIMIT[d]] !== undefined);
    const completed = rows.filter((row) => !Number.isNaN(outcomes.e2eUs[row]!));
    const within = (row: number, d: Dimension) => measured(outcomes, row, d) <= target[LIMIT[d]]!;
    const goodRows = completed.filter((row) => dimensions.every((d) => within(row, d))).length;
    good += goodRows;
    arrived += rows.length;
    const share = (n: number, of: number) => (of === 0 ? 0 : n / of);
    const itl = completed.reduce((sum, row) => sum + itlMeanUs(outcomes, row), 0);
    perClass[name] = {
      count: rows.length,
      slo_attainment: share(goodRows, rows.length),
      goodput_rps: share(goodRows, seconds),
      slo_attainment_by_dim: Object.fromEntries(
        dimensions.map((d) => [d, share(completed.filter((row) => within(row, d)).length, completed.length)]),
      ),
      ttft_p99_ms: p99Ms(sampler.sorted(outcomes.ttftUs, completed)),
      itl_mean_ms: share(itl, completed.length) / 1000,
      e2e_p99_ms: p99Ms(sampler.sorted(outcomes.e2eUs, completed)),
    };
  }
  return {
    goodput_rps: seconds === 0 ? 0 : good / seconds,
    slo_attainment: arrived === 0 ? 0 : good / arrived,
    per_class: perClass,
  };
}
