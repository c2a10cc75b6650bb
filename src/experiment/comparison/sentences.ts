import { decimal } from '../../report/text/format-number.js';
import { amountWithUnit, intervalText } from '../../report/text/metric-text.js';
import { type Metric, metricOf } from '../metrics.js';
import type { MetricDifference } from './metric-difference.js';

/** One sentence with a difference and its confidence. */
export function sentenceOf(difference: MetricDifference): string {
  const { variant, against, verdict, mean, reference, higher, pairs } = difference;
  const metric = metricOf(difference.metric);
  const is = `${variant}: ${metric.title} is`;
  const values = `${amountWithUnit(metric, mean)} against ${amountWithUnit(metric, reference)}`;
  const interval = `interval ${intervalText(metric, difference)}`;
  switch (verdict) {
    case 'same':
      return `${is} the same as with ${against} in every run (${amountWithUnit(metric, mean)}).`;
    case 'once':
      return `${is} ${change(metric, difference)} with ${against} (${values}; one run, so nothing is known about noise).`;
    case 'likely-better':
    case 'likely-worse': {
      const than = higher === 0 ? 'lower' : 'higher';
      return `${is} ${than} than with ${against} with every seed, size uncertain (${values}; ${interval}).`;
    }
    case 'noise':
      return `${variant}: the difference in ${metric.title} to ${against} is inside the noise (${values}; ${interval}; higher with ${higher} of ${pairs} seeds).`;
    default:
      return `${is} ${change(metric, difference)} with ${against} (${values}; ${interval}).`;
  }
}

/** `1.5 % higher than`, `3.2 times that`, `12.1 points lower than` for shares. */
function change({ unit }: Metric, { difference, relative }: MetricDifference): string {
  const than = (relative ?? difference) < 0 ? 'lower than' : 'higher than';
  if (unit === 'share') return `${decimal(Math.abs(difference) * 100, 1)} points ${than}`;
  if (relative === null) return `${decimal(Math.abs(difference))} ${than}`;
  if (relative >= 1) return `${decimal(1 + relative, 1)} times that`;
  return `${decimal(Math.abs(relative) * 100, 1)} % ${than}`;
}
