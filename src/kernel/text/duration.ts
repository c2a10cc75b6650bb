/** Units of a duration, in microseconds. */
const UNITS_US: Readonly<Record<string, number>> = {
  ...{ ns: 1e-3, us: 1, µs: 1, μs: 1, ms: 1e3, s: 1e6 },
  ...{ m: 6e7, h: 3.6e9, d: 8.64e10, w: 6.048e11 },
};
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h|d|w)/y;

/**
 * A duration with its unit or units as microseconds: `300us`, `1.5s`, `10m`, `1h30m`, `30d`. `0` needs no unit. Null for
 * anything else: a bare number has no unit, and none is guessed.
 */
export function parseDuration(text: string): number | null {
  if (text === '0') return 0;
  let us = 0;
  let read = 0;
  while (read < text.length) {
    PART.lastIndex = read;
    const match = PART.exec(text);
    if (match === null) return null;
    us += Number(match[1]) * UNITS_US[match[2]!]!;
    read = PART.lastIndex;
  }
  return read === 0 ? null : us;
}
