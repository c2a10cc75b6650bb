import { arrivalOrder } from '../arrival-order.js';
import { setSourceId } from '../request-table.js';
import type { Trace, TraceHeader } from '../trace.js';
import { firstArrival, retime } from './retime.js';
import { type NamedColumn, type Rename, selectRows } from './select-rows.js';

/** Prefixes of the numbers that replace names. */
const LETTERS: Readonly<Record<Exclude<NamedColumn, 'sloClass'>, string>> = {
  client: 'c',
  tenant: 't',
  session: 's',
  prefixGroup: 'g',
  model: 'm',
};

const rename: Rename = (column, name, n) => (column === 'sloClass' ? name : `${LETTERS[column]}${n}`);

/**
 * The trace without identifying data: names become numbers in order of appearance, and so do the ids of requests and
 * blocks; an observed trace starts at 0 instead of at a date. Lengths, sessions, SLO classes, shared blocks, and all
 * distances in time stay.
 */
export function anonymise(trace: Trace): Trace {
  const selected = selectRows(trace, arrivalOrder(trace.table), rename);
  const plain = { ...selected, header: withoutOrigin(trace.header) };
  for (let row = 0; row < plain.table.count; row++) setSourceId(plain.table, row, row);
  if (trace.header.mode !== 'real') return plain;
  const origin = firstArrival(plain);
  return retime(
    plain,
    plain.table.arrivalUs.map((us) => us - origin),
  );
}

/** The seed of a generated trace could generate it again, names included. */
function withoutOrigin({ mode, sessionContextGrowth, goodputTargets, place }: TraceHeader): TraceHeader {
  return { mode, sessionContextGrowth, goodputTargets, place };
}
