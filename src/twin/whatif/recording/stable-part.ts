import type { Observed, ServedBy } from '../../../workload/observed.js';
import type { RequestTable } from '../../../workload/request-table.js';

/**
 * A replica joined or left that served nothing at the beginning or the end, for this share of the time in which it would have served so many
 * requests.
 */
const SILENT_SHARE = 0.05;
const MISSED_REQUESTS = 30;
const MOST_NAMED = 4;

interface ServedTrace {
  observed: Observed & { served: ServedBy };
  table: RequestTable;
}

/** The rows between two changes of a fleet. */
export interface StablePart {
  from: number;
  to: number;
  /** The replicas that served them: indices of `served.replicas`. */
  replicas: number[];
  /** `r4 joined after 310 s`; empty where the fleet stayed the same. */
  changes: string[];
}

/**
 * The longest part of a recording, from a row on, in which no replica joined or left: a simulated fleet has all its replicas from the
 * start to the end. Rows are in order of arrival.
 */
export function stablePart({ observed, table }: ServedTrace, first: number): StablePart {
  const { by, replicas } = observed.served;
  const { arrivalUs, count } = table;
  const [beginUs, endUs] = [arrivalUs[first]!, arrivalUs[count - 1]!];
  const spans = replicas.map(() => ({ requests: 0, firstUs: Number.POSITIVE_INFINITY, lastUs: beginUs }));
  for (let row = first; row < count; row++) {
    const span = spans[by[row]!];
    if (span === undefined) continue;
    span.requests++;
    span.firstUs = Math.min(span.firstUs, arrivalUs[row]!);
    span.lastUs = arrivalUs[row]!;
  }
  const changes: { atUs: number; text: string }[] = [];
  const secondsAt = (us: number) => Math.floor((us - beginUs) / 1e6);
  const served = spans.map(({ firstUs, lastUs, requests }, i) => {
    const isMissed = (silentUs: number) =>
      silentUs > SILENT_SHARE * (endUs - beginUs) && silentUs * requests > MISSED_REQUESTS * (lastUs - firstUs);
    const joined = requests > 1 && isMissed(firstUs - beginUs);
    const left = requests > 1 && isMissed(endUs - lastUs);
    if (joined) changes.push({ atUs: firstUs, text: `${replicas[i]} joined after ${secondsAt(firstUs)} s` });
    if (left) changes.push({ atUs: lastUs, text: `${replicas[i]} left after ${secondsAt(lastUs)} s` });
    return { requests, fromUs: joined ? firstUs : beginUs, toUs: left ? lastUs : endUs };
  });
  changes.sort((a, b) => a.atUs - b.atUs);
  const edges = [first, ...changes.map(({ atUs }) => firstRowSince(table, atUs)), count];
  let [from, to] = [first, first];
  for (let i = 1; i < edges.length; i++) {
    if (edges[i]! - edges[i - 1]! > to - from) [from, to] = [edges[i - 1]!, edges[i]!];
  }
  const middleUs = arrivalUs[(from + to - 1) >> 1]!;
  const there = replicas
    .map((_, i) => i)
    .filter((i) => served[i]!.requests > 0 && served[i]!.fromUs <= middleUs && served[i]!.toUs >= middleUs);
  return { from, to, replicas: there, changes: changes.map(({ text }) => text) };
}

/** The first row that arrived at a time or later. */
export function firstRowSince({ arrivalUs, count }: RequestTable, fromUs: number): number {
  let row = 0;
  while (row < count && arrivalUs[row]! < fromUs) row++;
  return row;
}

/** What a result says of a part that was chosen. */
export function stablePartNote({ changes, from, replicas, to }: StablePart, { arrivalUs }: RequestTable): string {
  const named =
    changes.length > MOST_NAMED
      ? [...changes.slice(0, MOST_NAMED), `and ${changes.length - MOST_NAMED} more`]
      : changes;
  const seconds = Math.round((arrivalUs[to - 1]! - arrivalUs[from]!) / 1e6);
  const part = `only the ${to - from} requests of the ${seconds} s in which ${replicas.length} replicas stayed the same are used`;
  return `replicas joined or left: ${named.join(', ')}; ${part}`;
}
