import type { ResponseHeaders } from './response-headers.js';

const SECONDS = /^\d{1,9}$/;
/** `"api";r=0;t=55`: what is left of the window, in seconds. */
const WINDOW_LEFT = /;\s*t=(\d{1,9})/;

/** How long a server asks to be left alone, in milliseconds; null when it does not say, or says something else. */
export function retryAfter(headers: ResponseHeaders, now: number): number | null {
  const wish = headers.text('retry-after');
  if (wish === undefined) {
    const left = WINDOW_LEFT.exec(headers.text('ratelimit') ?? '')?.[1];
    return left === undefined ? null : Number(left) * 1000;
  }
  if (SECONDS.test(wish)) return Number(wish) * 1000;
  const until = Date.parse(wish);
  return Number.isNaN(until) ? null : Math.max(0, until - now);
}
