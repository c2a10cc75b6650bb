import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { allWorkspacesFlags, serverFlags, watchFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import { conflictingFlags } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { choiceFlag, count, stringFlag, toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, listWidth } from '../io.js';
import { type AuditView, auditLines, EVENT_TITLES, type EventView, eventRow } from './print/event-rows.js';
import { PrintedTable } from './print/printed-table.js';
import { calledNames } from './targets/called-resource.js';
import { kindList } from './targets/kind-list.js';
import { resumedEvents } from './targets/resumed-events.js';
import { untilStopped } from './targets/until-stopped.js';

const eventsFlags = {
  ...workspaceFlags,
  ...allWorkspacesFlags,
  limit: count({ default: 100, min: 1, max: 1000, help: 'number of last events' }),
  watch: { ...watchFlags.watch, help: 'print new events until interrupted' },
  former: toggle({ help: 'with a name: also events of deleted resources of that name' }),
  audit: toggle({ help: 'list changes and who made them, instead of events' }),
  actor: stringFlag({ default: null, placeholder: 'name', help: 'with --audit: only changes by this actor' }),
  output: { ...choiceFlag({ default: 'table', known: ['table', 'json'], help: 'output format' }), letter: 'o' },
};

export const EVENTS: CommandLine = {
  name: 'events',
  summary: summaryOf('events'),
  about:
    "Events are what the control plane did and why, the newest last. '--audit' lists changes instead: the time, who made each, and " +
    "the values before and after. '--watch' continues after a restart of the server, without an event twice.",
  operands: { usage: '[KIND[/NAME]]', least: 0, most: 2 },
  groups: [
    { title: 'Events', flags: eventsFlags },
    { title: 'Server', flags: serverFlags },
  ],
  more: kindList,
  examples: ['events', 'events ep/chat', 'events --audit --limit 20'],
};

type Query = Readonly<Record<string, string | null>>;

/** Lists events or changes of resources, the oldest first. */
export async function events(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof eventsFlags & typeof serverFlags>(EVENTS, argv);
  const { actor, audit, former, limit, output, watch } = values;
  if (values['all-workspaces'] && values.workspace !== null) {
    throw conflictingFlags('--workspace', 'is given together with --all-workspaces', 'keep one of them');
  }
  if (audit && watch) throw conflictingFlags('--watch', 'is given together with --audit', 'keep one of them');
  if (actor !== null && !audit) throw conflictingFlags('--actor', 'is given without --audit', 'add --audit');
  const { kind = null, names = [] } = operands.length === 0 ? {} : (await calledNames(operands))[0]!;
  const name = names[0] ?? null;
  if (former && name === null) {
    throw conflictingFlags('--former', 'is given without a name', 'give KIND/NAME');
  }
  // The audit log covers all workspaces by default: many changes are of kinds without a workspace.
  const usual = audit ? null : workspaceFor(values, io);
  const isGlobal = kind?.scope === 'global' || values['all-workspaces'];
  const workspace = isGlobal ? null : (values.workspace ?? usual);
  const query: Query = { kind: kind?.kind ?? null, workspace, name };
  const client = ApiClient.of(values, io);
  const listed = { query: { ...query, limit: String(limit), ...(audit ? { actor } : { former: String(former) }) } };
  if (audit) {
    const { items } = await client.call<{ items: AuditView[] }>('GET', '/api/v1/audit', listed);
    if (output === 'json') io.stdout.write(`${JSON.stringify(items, null, 2)}\n`);
    else for (const entry of items.reverse()) io.stdout.write(`${auditLines(entry).join('\n')}\n`);
    return 0;
  }
  const { items } = await client.call<{ items: EventView[] }>('GET', '/api/v1/events', listed);
  if (output === 'json' && !watch) {
    io.stdout.write(`${JSON.stringify(items, null, 2)}\n`);
    return 0;
  }
  const table = new PrintedTable(EVENT_TITLES, listWidth(io.stdout, io.env));
  const print = (some: readonly EventView[]) => {
    const lines = output === 'json' ? some.map((one) => JSON.stringify(one)) : table.lines(some.map(eventRow));
    for (const line of lines) io.stdout.write(`${line}\n`);
  };
  const last = items[0]?.id ?? 0;
  if (items.length > 0 || watch) print(items.reverse());
  else io.stderr.write('twinyard: no events\n');
  if (watch) await follow(client, query, last, print, io);
  return 0;
}

/** Prints events after one, each once, also over restarts of the server. */
async function follow(
  client: ApiClient,
  query: Query,
  after: number,
  print: (some: readonly EventView[]) => void,
  io: CliIo,
): Promise<void> {
  let last = after;
  const queryOf = () => ({ ...query, topics: 'events', since: `0-${last}` });
  for await (const { data, event } of resumedEvents(client, '/api/v1/watch', queryOf, untilStopped(io), io)) {
    if (event !== 'event') continue;
    const one = JSON.parse(data) as EventView;
    last = one.id;
    print([one]);
  }
}
