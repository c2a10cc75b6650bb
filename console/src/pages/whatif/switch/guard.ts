/** When a switch goes back, as the form has it. */
export interface Guard {
  readonly metric: string;
  /** How much worse it may become, in per cent; of errors in points. */
  readonly percent: string;
  readonly watch: string;
}

export const GUARD_METRICS: Readonly<Record<string, string>> = {
  ttft_p90: 'TTFT p90',
  ttft_mean: 'TTFT mean',
  ttft_p50: 'TTFT p50',
  ttft_p99: 'TTFT p99',
  e2e_mean: 'E2E mean',
  e2e_p90: 'E2E p90',
  errors: 'Failed requests',
};

export const WATCHES = ['1m', '5m', '10m', '30m', '1h', '6h'];

export const FIRST_GUARD: Guard = { metric: 'ttft_p90', percent: '10', watch: '10m' };

export const isGuard = ({ percent }: Guard) =>
  percent.trim() !== '' && Number(percent) >= 0 && Number(percent) <= 10_000;

export const guardName = (metric: string) => GUARD_METRICS[metric] ?? metric;

/** `TTFT p90 at most 10 % worse, for 10m`. @param most as a share, as the API has it */
export function guardText(metric: string, most: number, watch: string): string {
  const unit = metric === 'errors' ? 'points more' : '% worse';
  return `${guardName(metric)} at most ${Number((100 * most).toFixed(4))} ${unit}, for ${watch}`;
}

/** What came of a switch. */
export interface SwitchResult {
  readonly outcome: 'kept' | 'returned' | 'superseded';
  readonly reason: string;
  readonly requests: number;
}
