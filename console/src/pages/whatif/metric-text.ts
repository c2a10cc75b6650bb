import { milliseconds } from '../../parts/format';

const NAMES: Readonly<Record<string, string>> = {
  ttft_mean_ms: 'TTFT mean',
  ttft_p50_ms: 'TTFT p50',
  ttft_p90_ms: 'TTFT p90',
  ttft_p99_ms: 'TTFT p99',
  itl_mean_ms: 'ITL mean',
  e2e_mean_ms: 'E2E mean',
  e2e_p99_ms: 'E2E p99',
  cached_share: 'Cached prompt tokens',
};

export const METRICS = Object.keys(NAMES);
export const metricName = (metric: string) => NAMES[metric] ?? metric;

const isShare = (metric: string) => metric === 'cached_share';

/** With three digits: intervals are narrow. */
export function metricValue(metric: string, value: number): string {
  if (isShare(metric)) return `${(100 * value).toFixed(1)} %`;
  return value >= 10 && value < 100 ? `${value.toFixed(1)} ms` : milliseconds(value);
}

/** `−13.4 %`, `+9.6 points`. */
export function metricChange(metric: string, change: number): string {
  const shown = Math.abs(100 * change).toFixed(1);
  const sign = shown === '0.0' ? '±' : change > 0 ? '+' : '−';
  return `${sign}${shown} ${isShare(metric) ? 'points' : '%'}`;
}

/** 0.4 s, 52 s, 12 min, 3.5 h. */
export function span(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
