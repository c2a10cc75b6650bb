import type { MetricDifference } from '../../experiment/comparison/metric-difference.js';
import type { Metric } from '../../experiment/metrics.js';
import { decimal } from './format-number.js';

/** The unit after a number or in the head of a column. */
export function unitText({ unit }: Metric): string {
  return unit === 'share' ? '%' : unit;
}

/** A value of a metric with a useful number of digits; shares in per cent. */
export function amount({ unit }: Metric, value: number): string {
  if (unit === 'share') return decimal(value * 100, 1);
  const size = Math.abs(value);
  return decimal(value, size >= 1000 ? 0 : size >= 100 ? 1 : 2);
}

/** The same with its unit: `912.2 ms`, `68.1 %`. */
export function amountWithUnit(metric: Metric, value: number): string {
  return `${amount(metric, value)} ${unitText(metric)}`.trimEnd();
}

/** How much a difference is: `-1.5 %`, `x 30.1` where it doubles, `+12.1 points` of a share. */
export function changeText({ unit }: Metric, { difference, relative }: MetricDifference): string {
  if (unit === 'share') return `${signed(difference * 100, 1)} points`;
  if (relative === null) return signed(difference, 2);
  return relative >= 1 ? `x ${decimal(1 + relative, 1)}` : `${signed(relative * 100, 1)} %`;
}

/** The ends of the interval, relative to the reference where there is one; empty for a single pair. */
export function intervalText({ unit }: Metric, { low, high, reference }: MetricDifference): string {
  if (low === null || high === null) return '';
  if (unit === 'share') return `${signed(low * 100, 1)} to ${signed(high * 100, 1)} points`;
  if (reference === 0) return `${signed(low, 2)} to ${signed(high, 2)}`;
  return `${signed((low / reference) * 100, 1)} % to ${signed((high / reference) * 100, 1)} %`;
}

function signed(value: number, digits: number): string {
  const text = decimal(Math.abs(value), digits);
  return Number(text.replaceAll(',', '')) === 0 ? text : `${value < 0 ? '-' : '+'}${text}`;
}
