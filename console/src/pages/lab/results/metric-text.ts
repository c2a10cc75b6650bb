import { milliseconds, percent, short } from '../../../parts/format';
import type { Metric, MetricDifference } from '../lab-document';

export function amount({ unit }: Metric, value: number): string {
  if (unit === 'ms') return milliseconds(value);
  if (unit === 'share') return percent(value);
  return `${short(value)}${unit === '' ? '' : ` ${unit}`}`;
}

/** How much a difference is: of the reference, or in points of a share. */
export function change({ unit }: Metric, { difference, relative }: MetricDifference): string {
  if (unit === 'share') return `${signed(100 * difference)} points`;
  return relative === null ? signed(difference) : `${signed(100 * relative)} %`;
}

/** The ends of its interval; empty for one seed. */
export function changeInterval({ unit }: Metric, { high, low, reference }: MetricDifference): string {
  if (low === null || high === null) return '';
  if (unit === 'share') return `${signed(100 * low)} to ${signed(100 * high)}`;
  return reference === 0 ? '' : `${signed((100 * low) / reference)} to ${signed((100 * high) / reference)} %`;
}

function signed(value: number): string {
  const text = Math.abs(value).toFixed(1);
  return Number(text) === 0 ? '0' : `${value < 0 ? '−' : '+'}${text}`;
}
