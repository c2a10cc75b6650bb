/** Numbers as people read them: few digits, aligned, and the exact value beside. */

const plain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export const whole = (value: number) => plain.format(value);

/** What a list has on all of its pages, as the server counted them. */
export const counted = ({ is_more, total }: { readonly total: number; readonly is_more: boolean }) =>
  `${whole(total)}${is_more ? '+' : ''}`;

/** 1.2 k, 3.4 M: three digits at most. */
export function short(value: number): string {
  const steps: [number, string][] = [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e4, 'k'],
  ];
  for (const [least, unit] of steps) {
    if (Math.abs(value) >= least) return `${digits(value / (least === 1e4 ? 1000 : least))} ${unit}`;
  }
  return Math.abs(value) >= 1000 ? plain.format(value) : digits(value);
}

function digits(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function milliseconds(value: number | null): string {
  if (value === null) return '–';
  if (value < 0.005) return '0 ms';
  if (value < 1) return `${value.toFixed(2)} ms`;
  if (value < 1000) return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`;
  return value < 60_000 ? `${(value / 1000).toFixed(value < 10_000 ? 2 : 1)} s` : `${(value / 60_000).toFixed(1)} min`;
}

export const percent = (share: number | null) =>
  share === null ? '–' : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;

export const dollars = (value: number) => `$${value < 1 && value > 0 ? value.toFixed(4) : value.toFixed(2)}`;

/** 3 s ago, 12 min ago. */
export function ago(from: string, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(from)) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`;
}
