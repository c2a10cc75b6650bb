import { counted } from '../../report/text/format-number.js';
import { amountWithUnit } from '../../report/text/metric-text.js';
import { metricOf } from '../metrics.js';
import { isOfSettings } from './constraint.js';
import type { LoadSeries } from './load-series.js';
import type { Measure } from './measure.js';
import { constrainedMetric } from './ranking.js';
import type { SweepResult, SweptPoint } from './sweep-document.js';

/** Series that a sentence names: more are counted. */
const NAMED = 3;

/** What the sweep found, in one or two sentences. */
export function sweepVerdict(result: SweepResult): string {
  const { document } = result;
  if (document.points.length === 0) return 'No point could be simulated.';
  return [loadSentence(result) ?? bestSentence(result), refusedSentence(result)]
    .filter((text) => text !== '')
    .join(' ');
}

/** `lmetric keeps ttft_p99 <= 500ms up to 60 requests/s; round-robin up to 31.` */
function loadSentence(result: SweepResult): string | null {
  const found = result.load;
  const asked = resultConstraints(result);
  if (found === null || asked === '') return null;
  const { unit } = found;
  const gpus = ({ points }: LoadSeries) => points[0]!.point.gpus;
  // Of those that reach as far, the one with the fewest GPUs first.
  const order = [...found.series].sort((a, b) => (b.keeps ?? -1) - (a.keeps ?? -1) || gpus(a) - gpus(b));
  const [best, ...rest] = order;
  if (best!.keeps === null) {
    const least = Math.min(...found.series.map(({ points }) => points[0]!.load));
    return `No point keeps ${asked}, not even at ${least} ${unit}${nearest(result)}.`;
  }
  const reach = ({ keeps, points }: LoadSeries) => {
    if (keeps === null) return `not even at ${points[0]!.load}`;
    return keeps === points.at(-1)!.load ? `up to at least ${keeps}, the highest that was tried` : `up to ${keeps}`;
  };
  const named = rest.slice(0, NAMED - 1).map((one) => `; ${one.name} ${reach(one)}`);
  const more = rest.length >= NAMED ? `; ${rest.length - NAMED + 1} more not above that` : '';
  const subject = best!.name === '' ? 'The fleet' : best!.name;
  const first = reach(best!).replace(/^(up to (?:at least )?[\d.]+)/, `$1 ${unit}`);
  return `${subject} keeps ${asked} ${first}${named.join('')}${more}.`;
}

function bestSentence(result: SweepResult): string {
  const { document } = result;
  const asked = resultConstraints(result);
  if (document.best === null) return `No point keeps ${asked}${nearest(result)}.`;
  const point = document.points[document.best]!;
  const measures = [...new Map(result.objectives.best.map(({ measure }) => [measure.name, measure])).values()];
  const values = measures.map((measure) => measureText(measure, point)).filter((text) => text !== '');
  const feasible = document.points.filter((one) => one.feasible).length;
  const share = asked === '' ? '' : ` ${feasible} of ${counted(document.points.length, 'point')} keep ${asked}.`;
  return `${point.name} is best: ${values.join(', ')}.${share}`;
}

/** The point that comes nearest to what is asked. */
function nearest({ constraints, document }: SweepResult): string {
  const { measure, better } = constrainedMetric(constraints);
  const value = (point: SweptPoint) => (measure.kind === 'metric' ? (point.metrics[measure.key]?.mean ?? null) : null);
  const known = document.points.filter((point) => value(point) !== null);
  const first = known.reduce<SweptPoint | null>((best, point) => {
    if (best === null) return point;
    const isBetter = better === 'less' ? value(point)! < value(best)! : value(point)! > value(best)!;
    return isBetter ? point : best;
  }, null);
  return first === null ? '' : `: the nearest is ${first.name} with ${measureText(measure, first)}`;
}

function measureText(measure: Measure, point: SweptPoint): string {
  if (measure.kind === 'gpus') return counted(point.gpus, 'GPU');
  if (measure.kind === 'setting') return '';
  const metric = metricOf(measure.key);
  const value = point.metrics[measure.key] ?? null;
  if (value === null) return '';
  const { mean, low, high } = value;
  const interval =
    low === null || high === null ? '' : ` (${amountWithUnit(metric, low)} to ${amountWithUnit(metric, high)})`;
  return `${metric.title} ${amountWithUnit(metric, mean)}${interval}`;
}

function resultConstraints({ constraints }: SweepResult): string {
  const texts = constraints.filter((one) => !isOfSettings(one)).map(({ text }) => text);
  return texts.join(' and ');
}

function refusedSentence({ document }: SweepResult): string {
  const refused = document.refused_points;
  if (refused.length === 0) return '';
  return `${counted(refused.length, 'point')} cannot be simulated: ${refused[0]!.reason}.`;
}
