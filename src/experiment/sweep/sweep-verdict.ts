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
  const sentences = [loadSentence(result) ?? bestSentence(result), saturationSentence(result), refusedSentence(result)];
  return sentences.filter((text) => text !== '').join(' ');
}

/** `lmetric keeps ttft_p99 <= 500ms up to 60 requests/s; round-robin up to 31.` */
function loadSentence(result: SweepResult): string | null {
  const found = result.load;
  const asked = askedText(result);
  if (found === null) return null;
  const { unit } = found;
  const gpus = ({ points }: LoadSeries) => points[0]!.point.gpus;
  // Of those that reach as far, the one with the fewest GPUs first.
  const order = [...found.series].sort((a, b) => (b.keeps ?? -1) - (a.keeps ?? -1) || gpus(a) - gpus(b));
  const [best, ...rest] = order;
  if (best!.keeps === null) {
    const least = Math.min(...found.series.map(({ points }) => points[0]!.load));
    return `No point ${asked}, not even at ${least} ${unit}${nearest(result)}.`;
  }
  const reach = ({ keeps, points }: LoadSeries) => {
    if (keeps === null) return `not even at ${points[0]!.load}`;
    return keeps === points.at(-1)!.load ? `up to at least ${keeps}, the highest that was tried` : `up to ${keeps}`;
  };
  const named = rest.slice(0, NAMED - 1).map((one) => `; ${one.name} ${reach(one)}`);
  const more = rest.length >= NAMED ? `; ${rest.length - NAMED + 1} more not above that` : '';
  const subject = best!.name === '' ? 'The fleet' : best!.name;
  const first = reach(best!).replace(/^(up to (?:at least )?[\d.]+)/, `$1 ${unit}`);
  return `${subject} ${asked} ${first}${named.join('')}${more}.`;
}

function bestSentence(result: SweepResult): string {
  const { document } = result;
  const asked = resultConstraints(result);
  if (document.best === null) return `No point ${askedText(result)}${nearest(result)}.`;
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

/** What a point has to do, as the end of a sentence. */
function askedText(result: SweepResult): string {
  const asked = resultConstraints(result);
  return asked === '' ? 'serves requests as fast as they arrive' : `keeps ${asked}`;
}

/** A result that a longer run would change is never silent. */
function saturationSentence({ document: { points } }: SweepResult): string {
  const saturated = points.filter(({ saturated_runs }) => saturated_runs > 0).length;
  const short = points.filter((point) => point.saturated_runs === 0 && point.too_short_runs > 0).length;
  const all = counted(points.length, 'point');
  const texts = [
    ...(saturated === 0
      ? []
      : [`${saturated} of ${all} ${saturated === 1 ? 'is' : 'are'} saturated: the backlog grew until the end.`]),
    ...(short === 0
      ? []
      : [`${short} of ${all} ${short === 1 ? 'is' : 'are'} too short to show a steady state: raise --num-requests.`]),
  ];
  return texts.join(' ');
}

function refusedSentence({ document }: SweepResult): string {
  const refused = document.refused_points;
  if (refused.length === 0) return '';
  return `${counted(refused.length, 'point')} cannot be simulated: ${refused[0]!.reason}.`;
}
