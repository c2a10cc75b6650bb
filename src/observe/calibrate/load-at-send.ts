import type { MeasuredRequest } from './measured-request.js';

/** How many requests were under way when each of these was sent, itself included. Requests without an end count for nothing. */
export function loadAtSend(requests: readonly MeasuredRequest[], all: readonly MeasuredRequest[]): Int32Array {
  const ended = all.filter(({ e2eUs }) => e2eUs >= 0);
  const sent = Float64Array.from(ended, ({ sentUs }) => sentUs).sort();
  const end = Float64Array.from(ended, ({ e2eUs, sentUs }) => sentUs + e2eUs).sort();
  return Int32Array.from(requests, ({ sentUs }) => upTo(sent, sentUs) - upTo(end, sentUs));
}

/** How many of the sorted values are not above a limit. */
function upTo(sorted: Float64Array, limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
