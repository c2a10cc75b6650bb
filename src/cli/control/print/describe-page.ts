import type { EndpointAdvice, EndpointProfile, EndpointSwitch } from '../../../control/resources/kinds/endpoint.js';
import type { Condition, Resource, Status } from '../../../control/resources/resource.js';
import { stackedTables } from '../../../report/text/text-table.js';
import { wrapText } from '../../../report/text/wrap-text.js';
import { EVENT_TITLES, type EventView, eventRow } from './event-rows.js';
import { PrintedTable } from './printed-table.js';
import { labelsText } from './resource-table.js';
import { ageText, secondText } from './time-text.js';

/** Keys of a status that have their own section. */
const SHOWN_APART = [
  'phase',
  'message',
  'observed_generation',
  'conditions',
  'replicas',
  'last_lines',
  'advice',
  'switch',
  'profiles',
];

/** A resource as a page. Tables fit the width; a specification and log lines are printed as they are. @param events the oldest first */
export async function describePage(
  resource: Resource,
  events: readonly EventView[],
  now: number,
  width: number,
): Promise<string> {
  const { stringify } = await import('yaml');
  const yaml = (value: unknown) => indented(stringify(value, { lineWidth: 0 }).trimEnd().split('\n'));
  const { spec, status } = resource;
  const others = Object.fromEntries(Object.entries(status ?? {}).filter(([key]) => !SHOWN_APART.includes(key)));
  const shown = readable(others);
  const sections: [title: string, lines: readonly string[]][] = [
    ['', factLines(resource, now, width)],
    ['Spec', yaml(spec)],
    ['Status', Object.keys(others).length === 0 ? [] : yaml(shown)],
    ['Conditions', conditionLines(status?.conditions ?? [], width)],
    ['Replicas', replicaLines(status, width)],
    ['Advice', adviceLines(status, now, width)],
    ['Switch', switchLines(status, now, width)],
    ['Profiles', profileLines(status, now, width)],
    ['Last lines', indented(((status?.last_lines as string[] | undefined) ?? []).map(printable))],
    ['Events', events.length === 0 ? ['  none'] : eventLines(events, width)],
  ];
  return sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `${title === '' ? '' : `${title}:\n`}${lines.join('\n')}\n`)
    .join('\n');
}

const UNITS: Readonly<Record<string, number>> = { _bytes: 2 ** 30, _mib: 2 ** 10 };

/** Memory in GiB: `memory_bytes: 16843063296` as `memory: 15.7 GiB`. */
function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const unit = /memory(_bytes|_mib)$/.exec(key)?.[1];
      if (unit === undefined || typeof inner !== 'number') return [key, readable(inner)];
      return [key.slice(0, -unit.length), `${(inner / UNITS[unit]!).toFixed(1)} GiB`];
    }),
  );
}

function factLines({ kind, metadata, status }: Resource, now: number, width: number): string[] {
  const { created_at, deleted_at, generation, labels, name, resource_version, workspace } = metadata;
  const time = (iso: string) => `${secondText(iso)} UTC, ${ageText(iso, now)} ago`;
  const seen = status === undefined ? '' : `, observed ${status.observed_generation}`;
  const rows: [string, string | undefined][] = [
    ['Kind', kind],
    ['Name', name],
    ['Workspace', workspace],
    ['Labels', labelsText(labels) || 'none'],
    ['Created', created_at === undefined ? undefined : time(created_at)],
    ['Deleted', deleted_at === undefined ? undefined : time(deleted_at)],
    ['Generation', `${generation}${seen}`],
    ['Version', String(resource_version)],
    ['Phase', status?.phase ?? 'unknown'],
    ['Message', status?.message || undefined],
  ];
  const given = rows.filter((row): row is [string, string] => row[1] !== undefined);
  return stackedTables(
    given.map(([title, value]) => [`${title}:`, value]),
    ['left', 'left'],
    width,
  ).flat();
}

function conditionLines(conditions: readonly Condition[], width: number): string[] {
  if (conditions.length === 0) return [];
  const rows = conditions.map(({ message, reason, since, status, type }) => [
    ...[type, status ? 'yes' : 'no', secondText(since), reason, message],
  ]);
  return table([['TYPE', 'HOLDS', 'SINCE', 'REASON', 'MESSAGE'], ...rows], width);
}

interface ReplicaView {
  readonly id: string;
  readonly phase: string;
  readonly generation: number;
  readonly restarts: number;
  readonly url: string;
  readonly message: string;
}

function replicaLines(status: Status | undefined, width: number): string[] {
  const replicas = (status?.replicas as readonly ReplicaView[] | undefined) ?? [];
  if (replicas.length === 0) return [];
  const rows = replicas.map(({ generation, id, message, phase, restarts, url }) => [
    ...[id, phase, String(generation), String(restarts), url, message],
  ]);
  return table([['ID', 'PHASE', 'GENERATION', 'RESTARTS', 'URL', 'MESSAGE'], ...rows], width);
}

/** What to do about the policy of an Endpoint, how old that is, and whether the policy has changed since. */
function adviceLines(status: Status | undefined, now: number, width: number): string[] {
  const advice = status?.advice as EndpointAdvice | undefined;
  if (advice === undefined) return [];
  const { at, present, verdict } = advice;
  const found = `Found ${ageText(at, now)} ago, while ${present} was in force.`;
  return indented([verdict, found].flatMap((line) => wrapText(printable(line), width - INDENT.length)));
}

/** The latest guarded switch of the policy of an Endpoint, and what came of it. */
function switchLines(status: Status | undefined, now: number, width: number): string[] {
  const last = status?.switch as EndpointSwitch | undefined;
  if (last === undefined) return [];
  const { at, former, metric, most, policy, reason, state } = last;
  const bound = `${metric} at most ${Number((100 * most).toFixed(4))} ${metric === 'errors' ? 'points more' : '% worse'}`;
  const text = `From ${former} to ${policy}, ${bound}: ${state}${reason === '' ? '' : `, ${reason}`}, ${ageText(at, now)} ago.`;
  return indented(wrapText(printable(text), width - INDENT.length));
}

/** What latencies are predicted with, how good it is, and why nothing is predicted. */
function profileLines(status: Status | undefined, now: number, width: number): string[] {
  const profiles = (status?.profiles as readonly EndpointProfile[] | undefined) ?? [];
  if (profiles.length === 0) return [];
  const percent = (share: number) => `${Number((100 * share).toFixed(1))} %`;
  const rows = profiles.map(({ drift, engine, fitted_at, name, pinned, problem, score }) => [
    ...[engine, name ?? '-', fitted_at === null ? '-' : ageText(fitted_at, now), pinned ? 'yes' : 'no'],
    score === null ? '-' : [score.ttft, score.itl, score.e2e].map(percent).join(', '),
    drift === '' ? problem : drift,
  ]);
  return table([['ENGINE', 'PROFILE', 'AGE', 'PINNED', 'ERROR OF TTFT, ITL, E2E', 'NOTE'], ...rows], width);
}

/** Without the column of the resource: all events here are of one. */
function eventLines(events: readonly EventView[], width: number): string[] {
  const withoutResource = (row: readonly string[]) => row.filter((_, i) => i !== 2);
  const lines = new PrintedTable(withoutResource(EVENT_TITLES), width - INDENT.length);
  return indented(lines.lines(events.map(eventRow).map(withoutResource)));
}

function table(rows: readonly (readonly string[])[], width: number): string[] {
  const alignments = rows[0]!.map(() => 'left' as const);
  const tables = stackedTables(rows, alignments, width - INDENT.length);
  return indented(tables.flatMap((lines, i) => (i === 0 ? lines : ['', ...lines])));
}

const INDENT = '  ';

const indented = (lines: readonly string[]) => lines.map((line) => (line === '' ? '' : INDENT + line));

const printable = (line: string) => line.replace(/\p{Cc}/gu, '?');
