import { deadlineTooEarly, duplicateId, requestEmpty, tooManyBlocks, tracePromptTooLong } from '../../errors.js';
import { type RequestTable, ROW_STREAMING, setSourceId } from '../../request-table.js';
import type { Trace } from '../../trace.js';
import { MAX_COUNT } from './data-columns.js';
import type { Extras } from './extras.js';

/** Send times from here on are dates: no trace lasts that long. */
const DATES_US = 1e14;

/**
 * Shifts send times that are dates to the time axis of the due times, so that no request is early and the earliest is
 * on time; returns by how much.
 */
export function sendTimesFromZero({ arrivalUs, count }: RequestTable, { wantedUs }: Extras): number {
  let originUs = Number.POSITIVE_INFINITY;
  for (let row = 0; row < count; row++) {
    if (arrivalUs[row]! > 0) originUs = Math.min(originUs, arrivalUs[row]! - wantedUs[row]!);
  }
  if (!(originUs >= DATES_US && originUs < Number.POSITIVE_INFINITY)) return 0;
  for (let row = 0; row < count; row++) if (arrivalUs[row]! > 0) arrivalUs[row]! -= originUs;
  return originUs;
}

/** Turns the columns of the file into requests, in place; returns whether they are out of order. */
export function settleRows(
  table: RequestTable,
  extras: Extras,
  relativeDeadlines: boolean,
  place: Trace['place'],
): boolean {
  const { arrivalUs, count, deadlineUs, flags, inputTokens, outputTokens, prefixGroup } = table;
  const { serverTokens, sourceId, wantedUs } = extras;
  const prefixTokens = prefixLengths(table, extras);
  let unsorted = false;
  let idsAscend = true;
  let lastId = -1;
  let lastArrival = 0;
  for (let row = 0; row < count; row++) {
    const id = sourceId[row]!;
    setSourceId(table, row, id);
    if (id <= lastId) idsAscend = false;
    lastId = id;

    // The send time; a record without one arrives when it was due.
    const wanted = wantedUs[row]!;
    const arrival = arrivalUs[row]! > 0 ? arrivalUs[row]! : wanted;
    arrivalUs[row] = arrival;
    if (arrival < lastArrival) unsorted = true;
    lastArrival = arrival;
    const deadline = deadlineUs[row]!;
    if (deadline > 0) {
      if (relativeDeadlines) deadlineUs[row] = arrival + deadline;
      else if (deadline < wanted) throw deadlineTooEarly(place(row, 'deadline_us'), deadline, wanted);
    }

    const group = prefixGroup[row]!;
    // The server's count includes the prefix, so it cannot be used where one is added.
    const fresh = group === 0 && serverTokens[row]! > 0 ? serverTokens[row]! : inputTokens[row]!;
    const tokens = fresh + prefixTokens[group]!;
    if (tokens > MAX_COUNT) throw tracePromptTooLong(place(row, 'input_tokens'), tokens);
    if (tokens === 0 && outputTokens[row] === 0) throw requestEmpty(place(row, 'input_tokens'));
    inputTokens[row] = tokens;
    flags[row] = flags[row] === 1 ? ROW_STREAMING : 0;
  }
  if (!idsAscend) checkIds(table, extras, place);
  return unsorted;
}

/** A group's prefix is as long as in its first record with a length, and in front of every prompt of the group. */
function prefixLengths({ count, prefixGroup, prefixGroups, prefixTokens }: RequestTable, extras: Extras): number[] {
  while (prefixTokens.length < prefixGroups.size) prefixTokens.push(0);
  for (let row = 0; row < count; row++) {
    const group = prefixGroup[row]!;
    if (group > 0 && prefixTokens[group] === 0) prefixTokens[group] = extras.prefixLength[row]!;
  }
  return prefixTokens;
}

export function checkBlocks({ blocks, count, inputTokens }: RequestTable, place: Trace['place']): void {
  if (blocks === null) return;
  for (let row = 0; row < count; row++) {
    const most = Math.ceil(inputTokens[row]! / blocks.blockTokens);
    if (blocks.blocksOf(row) > most) {
      throw tooManyBlocks(place(row, 'block_hashes'), blocks.blocksOf(row), most, blocks.blockTokens);
    }
  }
}

function checkIds({ count }: RequestTable, { sourceId }: Extras, place: Trace['place']): void {
  const seen = new Map<number, number>();
  for (let row = 0; row < count; row++) {
    const id = sourceId[row]!;
    const first = seen.get(id);
    if (first !== undefined) throw duplicateId(place(row, 'request_id'), id, place(first, 'request_id'));
    seen.set(id, row);
  }
}
