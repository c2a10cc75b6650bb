import { setImmediate as immediate } from 'node:timers/promises';

/** What one piece of a long reading should take at most, and from where on the next piece is wider. */
const LONG_MS = 4;
const SHORT_MS = 1;
const FIRST_PIECES = 64;
const LEAST_US = 1000;

/**
 * Divides a range of time into pieces and reads them from the latest to the earliest, until one says that it is enough. A piece is
 * as wide as can be read within some milliseconds, and others get their turn after it.
 * @param read returns whether to go on
 */
export async function timeSlices(
  from: number,
  to: number,
  read: (from: number, to: number) => Promise<boolean>,
  now: () => number = () => performance.now(),
): Promise<void> {
  let width = Math.max(LEAST_US, Math.ceil((to - from) / FIRST_PIECES));
  for (let end = to; end > from; ) {
    const start = Math.max(from, end - width);
    const beganAt = now();
    if (!(await read(start, end))) return;
    const took = now() - beganAt;
    if (took < SHORT_MS) width *= 2;
    else if (took > LONG_MS) width = Math.max(LEAST_US, Math.floor(width / 2));
    end = start;
    await immediate();
  }
}
