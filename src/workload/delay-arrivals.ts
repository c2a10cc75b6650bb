import { randomStream } from '../kernel/random-stream.js';
import type { RequestTable } from './request-table.js';

/**
 * Moves every arrival of the table to a random moment less than `mostUs` later, deadlines with it: requests that are close
 * together may change places, as they do from one live run to the next. Drawn in the order of rows, so that policies under
 * comparison see the same arrivals. Turns that follow a response inherit the delay of the first one.
 */
export function delayArrivals(table: RequestTable, mostUs: number, seed: number): void {
  const random = randomStream(seed, 'arrival-jitter');
  const { arrivalUs, count, deadlineUs } = table;
  for (let row = 0; row < count; row++) {
    const delayUs = random.below(mostUs);
    arrivalUs[row]! += delayUs;
    if (deadlineUs[row]! > 0) deadlineUs[row]! += delayUs;
  }
}
