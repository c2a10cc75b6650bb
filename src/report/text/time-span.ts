import { decimal } from './format-number.js';

/** Seconds, and from two minutes or hours on those: `12.34 s`, `58.9 min`, `2.5 h`. */
export function timeSpan(seconds: number): string {
  const { size, name } = timeUnit(seconds);
  return `${decimal(seconds / size, size === 1 ? 2 : 1)} ${name}`;
}

/** The unit in which a stretch of time reads best, in seconds. */
export function timeUnit(seconds: number): { size: number; name: string } {
  if (seconds >= 7200) return { size: 3600, name: 'h' };
  return seconds >= 120 ? { size: 60, name: 'min' } : { size: 1, name: 's' };
}
