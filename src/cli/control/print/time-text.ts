const UNITS: readonly (readonly [letter: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
];

/** How long ago a time was, in the largest unit of which there are two: `95s`, `12m`, `36h`, `5d`. */
export function ageText(iso: string | undefined, now: number): string {
  if (iso === undefined) return '';
  const seconds = Math.max(0, Math.floor((now - Date.parse(iso)) / 1000));
  const unit = UNITS.find(([, length]) => seconds >= 2 * length);
  return unit === undefined ? `${seconds}s` : `${Math.floor(seconds / unit[1])}${unit[0]}`;
}

/** `2026-01-31T18:00:07.250Z` as `2026-01-31 18:00:07`. */
export const secondText = (iso: string) => iso.slice(0, 19).replace('T', ' ');
