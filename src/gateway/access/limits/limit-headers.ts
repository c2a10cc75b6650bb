import { WINDOW_SECONDS } from '../account/minute-window.js';
import type { Reservation } from './reservation.js';

/** Seconds as OpenAI writes durations: `0s`, `59s`, `6m0s`. */
export function durationText(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds % 60}s`;
}

/** A window of a minute needs no other durations. */
const DURATIONS = Array.from({ length: WINDOW_SECONDS + 1 }, (_, seconds) => durationText(seconds));

/** Appends the remaining limits per minute, flat: name, value, name, value. Nothing without such limits. */
export function appendLimitHeaders(headers: string[], reservation: Reservation): void {
  if (reservation.limitRequests !== -1) {
    headers.push(
      'x-ratelimit-limit-requests',
      String(reservation.limitRequests),
      'x-ratelimit-remaining-requests',
      String(reservation.remainingRequests),
      'x-ratelimit-reset-requests',
      DURATIONS[reservation.resetRequests]!,
    );
  }
  if (reservation.limitTokens !== -1) {
    headers.push(
      'x-ratelimit-limit-tokens',
      String(reservation.limitTokens),
      'x-ratelimit-remaining-tokens',
      String(reservation.remainingTokens),
      'x-ratelimit-reset-tokens',
      DURATIONS[reservation.resetTokens]!,
    );
  }
}
