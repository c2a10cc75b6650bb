import { appendLimitHeaders } from '../access/limit-headers.js';
import type { Reservation } from '../access/reservation.js';
import { decisionHeader, downstreamHeaders } from './headers.js';
import type { RequestRecord } from './request-record.js';

/** The headers of a response: the replica's, then who answered and why it was chosen, and what is left of the key's limits. */
export function responseHeaders(raw: string[], request: RequestRecord, reservation: Reservation | null): string[] {
  const headers = downstreamHeaders(raw);
  headers.push('x-request-id', request.facts.id, 'x-twinyard-replica', request.replica!.headerId);
  headers.push('x-twinyard-decision', decisionHeader(request.policy, request.rule));
  if (reservation !== null) appendLimitHeaders(headers, reservation);
  return headers;
}
