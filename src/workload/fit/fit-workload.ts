import { arrivalOrder } from '../arrival-order.js';
import { fitImpossible } from '../errors.js';
import type { RequestTable } from '../request-table.js';
import type { WorkloadSpec } from '../spec/workload-spec.js';
import { promptTable } from '../tools/prompt-table.js';
import type { Trace } from '../trace.js';
import { findSessions } from './find-sessions.js';
import { clockTick } from './fit-arrival.js';
import { fitClient } from './fit-client.js';
import { digits } from './fit-lengths.js';
import { sessionGroups } from './session-groups.js';
import { sharedPrefixes } from './shared-prefixes.js';

export interface WorkloadFit {
  spec: WorkloadSpec;
  /** The recorded requests with the prompts they really had, to compare with. */
  recorded: RequestTable;
  /** Microseconds that the recorded traffic took, and the horizon of the specification. */
  durationUs: number;
  /** What the specification leaves out of the trace, one sentence each. */
  notes: string[];
}

/** The specification whose traffic is like that of the trace. It has no seed: none reproduces the trace exactly. */
export function fitWorkload(trace: Trace): WorkloadFit {
  const table = promptTable(trace);
  const order = arrivalOrder(table);
  const { startUs, durationUs } = span(trace, table, order);
  const prefixes = sharedPrefixes(table);
  const chats = findSessions(table, order, prefixes);
  const tickUs = clockTick(order, table.arrivalUs);
  const context = { trace, table, chats, prefixes, startUs, durationUs, tickUs };
  const fitted = sessionGroups(table, chats, prefixes).map((group) => fitClient(context, group));
  const total = fitted.reduce((sum, { chatsPerS }) => sum + chatsPerS, 0);
  for (const { client, chatsPerS } of fitted) if (chatsPerS > 0) client.rate_fraction = digits(chatsPerS / total);
  const spec: WorkloadSpec = {
    version: '2',
    category: 'language',
    clients: fitted.map(({ client }) => client),
    ...(total > 0 ? { aggregate_rate: digits(total) } : {}),
    horizon: durationUs,
  };
  const targets = goodputTargets(trace);
  if (targets !== undefined) spec.goodput_slo_targets = targets;
  return { spec, recorded: table, durationUs, notes: notesOf(table) };
}

/** From the first arrival to a mean gap after the last. */
function span(trace: Trace, table: RequestTable, order: Int32Array): { startUs: number; durationUs: number } {
  const startUs = table.arrivalUs[order[0]!]!;
  const betweenUs = table.arrivalUs[order[order.length - 1]!]! - startUs;
  if (betweenUs > 0) {
    return { startUs, durationUs: Math.round((betweenUs * order.length) / (order.length - 1)) };
  }
  const place = trace.place(order[0]!, 'arrival_time_us');
  throw fitImpossible(place, 'all requests arrive at the same time', 'give a trace with at least two arrival times');
}

function goodputTargets({ header }: Trace): WorkloadSpec['goodput_slo_targets'] {
  const classes = Object.entries(header.goodputTargets);
  if (classes.length === 0) return undefined;
  const ms = (key: string, us: number | undefined) => (us === undefined ? {} : { [key]: us / 1000 });
  return Object.fromEntries(
    classes.map(([name, { ttftUs, itlUs, e2eUs }]) => [
      name,
      { ...ms('ttft_ms', ttftUs), ...ms('itl_ms', itlUs), ...ms('e2e_ms', e2eUs) },
    ]),
  );
}

function notesOf({ kinds, count }: RequestTable): string[] {
  const hasKinds =
    kinds !== null &&
    [kinds.image, kinds.audio, kinds.video].some((column) => column.subarray(0, count).some((n) => n > 0));
  const hasReasoning = kinds?.reasonRatio.subarray(0, count).some((ratio) => ratio > 0) ?? false;
  return [
    ...(hasKinds ? ['images, audio and video are fitted as text of the same length'] : []),
    ...(hasReasoning ? ['reasoning is fitted as a part of the response'] : []),
  ];
}
