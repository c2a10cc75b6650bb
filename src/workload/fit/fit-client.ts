import type { RequestTable } from '../request-table.js';
import type { ArrivalSpec, ClientSpec, MultiTurnSpec } from '../spec/workload-spec.js';
import type { Trace } from '../trace.js';
import { type ActiveWindows, activeUntil, activeWindows, gapsBetween } from './active-windows.js';
import { labelsOf, wishesOf } from './client-traits.js';
import type { FoundSessions } from './find-sessions.js';
import { countsByTick, fitArrival } from './fit-arrival.js';
import { fitLengths, PAUSE_STEP } from './fit-lengths.js';
import { type GroupValues, groupValues } from './group-values.js';
import type { SessionGroup } from './session-groups.js';
import type { SharedPrefixes } from './shared-prefixes.js';

/** Inputs that all clients of a fit share. */
export interface FitContext {
  trace: Trace;
  /** With the prompts that requests really had. */
  table: RequestTable;
  chats: FoundSessions;
  prefixes: SharedPrefixes;
  startUs: number;
  durationUs: number;
  tickUs: number;
}

/** A client of the specification, its share of the rate still to be set. */
export interface FittedClient {
  client: ClientSpec;
  /** Sessions per second while it is active; 0 for one that holds a single session at a known time. */
  chatsPerS: number;
}

export function fitClient(context: FitContext, group: SessionGroup): FittedClient {
  const { chats, durationUs, prefixes, startUs, table, tickUs, trace } = context;
  const begins = Float64Array.from(
    group.chats,
    (chat) => table.arrivalUs[chats.rows[chats.begin[chat]!]!]! - startUs,
  ).sort();
  const values = groupValues(table, chats, prefixes.tokens[group.prefix]!, group);
  const client: ClientSpec = { id: group.id, ...labelsOf(table, group) };
  let chatsPerS = 0;
  if (!group.isOneChat) {
    const active = activeWindows(begins, durationUs, tickUs);
    chatsPerS = group.chats.length / visibleShare(context, group, active) / (active.activeUs / 1e6);
    client.rate_fraction = chatsPerS;
    client.arrival = arrivalOf(begins, active, tickUs);
    if (active.activeUs < durationUs) client.lifecycle = { windows: active.windows };
  }
  client.input_distribution = fitLengths(values.firstInputs);
  client.output_distribution = fitLengths(values.outputs);
  if (group.prefix > 0) {
    client.prefix_group = prefixes.names[group.prefix]!;
    client.prefix_length = prefixes.tokens[group.prefix]!;
  }
  Object.assign(client, wishesOf(trace, table, chats, group));
  if (values.pauses.length > 0) {
    client.reasoning = { multi_turn: multiTurn(values) };
    if (group.isOneChat) {
      client.reasoning.multi_turn!.single_session = true;
      client.reasoning.multi_turn!.start_us = Math.round(begins[0]!);
    }
    // The pauses are those between recorded arrivals: turns come at these times whether the cluster is fast or slow.
    client.closed_loop = false;
    client.timeout ??= 0;
  }
  return { client, chatsPerS };
}

function multiTurn({ grows, laterInputs, pauses, rounds }: GroupValues): MultiTurnSpec {
  const most = rounds.reduce((a, b) => Math.max(a, b));
  const least = rounds.reduce((a, b) => Math.min(a, b));
  return {
    max_rounds: most,
    ...(least < most ? { rounds_distribution: fitLengths(rounds) } : {}),
    think_time_distribution: fitLengths(pauses, PAUSE_STEP),
    input_distribution: fitLengths(laterInputs),
    ...(grows ? { context_growth: 'accumulate' as const } : {}),
  };
}

/** The distribution of the gaps between session starts, without those across a pause. */
function arrivalOf(begins: Float64Array, { activeUs, windows }: ActiveWindows, tickUs: number): ArrivalSpec {
  if (windows.length === 1) {
    return fitArrival(gapsBetween(begins), tickUs > 0 ? countsByTick(begins, tickUs, activeUs) : null);
  }
  const shortest = windows
    .slice(1)
    .reduce((least, { start_us }, i) => Math.min(least, start_us - windows[i]!.end_us), Number.POSITIVE_INFINITY);
  return fitArrival(
    gapsBetween(begins).filter((gap) => gap <= shortest),
    null,
  );
}

/**
 * The share of turns that arrive before the end, for sessions like these that begin at any time of the active part. The
 * trace was cut off at its end, and so is the generated workload: the rate compensates for it.
 */
function visibleShare({ chats, durationUs, table }: FitContext, group: SessionGroup, active: ActiveWindows): number {
  let turns = 0;
  let visible = 0;
  for (const chat of group.chats) {
    const beginUs = table.arrivalUs[chats.rows[chats.begin[chat]!]!]!;
    for (let i = chats.begin[chat]!; i < chats.begin[chat + 1]!; i++) {
      const offsetUs = table.arrivalUs[chats.rows[i]!]! - beginUs;
      visible += activeUntil(active, durationUs - offsetUs) / active.activeUs;
      turns++;
    }
  }
  return visible / turns;
}
