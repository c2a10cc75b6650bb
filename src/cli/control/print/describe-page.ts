import type { Condition, Resource, Status } from '../../../control/resources/resource.js';
import { textTable } from '../../../report/text/text-table.js';
import { EVENT_TITLES, type EventView, eventRow } from './event-rows.js';
import { labelsText } from './resource-table.js';
import { ageText, secondText } from './time-text.js';

/** Parts of a status that have a place of their own on the page. */
const SHOWN_APART = ['phase', 'message', 'observed_generation', 'conditions', 'replicas', 'last_lines'];

/** A resource as a page for people. @param events the oldest first */
export async function describePage(resource: Resource, events: readonly EventView[], now: number): Promise<string> {
  const { stringify } = await import('yaml');
  const yaml = (value: unknown) => indented(stringify(value, { lineWidth: 0 }).trimEnd().split('\n'));
  const { spec, status } = resource;
  const others = Object.fromEntries(Object.entries(status ?? {}).filter(([key]) => !SHOWN_APART.includes(key)));
  const shown = readable(others);
  const sections: [title: string, lines: readonly string[]][] = [
    ['', factLines(resource, now)],
    ['Spec', yaml(spec)],
    ['Status', Object.keys(others).length === 0 ? [] : yaml(shown)],
    ['Conditions', conditionLines(status?.conditions ?? [])],
    ['Replicas', replicaLines(status)],
    ['Last lines', indented(((status?.last_lines as string[] | undefined) ?? []).map(printable))],
    ['Events', events.length === 0 ? ['  none'] : table([EVENT_TITLES, ...events.map(eventRow)].map(withoutResource))],
  ];
  return sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `${title === '' ? '' : `${title}:\n`}${lines.join('\n')}\n`)
    .join('\n');
}

const UNITS: Readonly<Record<string, number>> = { _bytes: 2 ** 30, _mib: 2 ** 10 };

/** Amounts of memory as people speak of them: `memory_bytes: 16843063296` as `memory: 15.7 GiB`. */
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

function factLines({ kind, metadata, status }: Resource, now: number): string[] {
  const { created_at, deleted_at, generation, labels, name, resource_version, workspace } = metadata;
  const time = (iso: string) => `${secondText(iso)} UTC, ${ageText(iso, now)} ago`;
  const seen = status === undefined ? '' : `, seen ${status.observed_generation}`;
  const rows: [string, string | undefined][] = [
    ['Kind', kind],
    ['Name', name],
    ['Workspace', workspace],
    ['Labels', labelsText(labels) || 'none'],
    ['Created', created_at === undefined ? undefined : time(created_at)],
    ['Deleted', deleted_at === undefined ? undefined : time(deleted_at)],
    ['Generation', `${generation}${seen}`],
    ['Version', String(resource_version)],
    ['Phase', status?.phase ?? 'not known yet'],
    ['Message', status?.message || undefined],
  ];
  const given = rows.filter((row): row is [string, string] => row[1] !== undefined);
  return textTable(
    given.map(([title, value]) => [`${title}:`, value]),
    ['left', 'left'],
  );
}

function conditionLines(conditions: readonly Condition[]): string[] {
  if (conditions.length === 0) return [];
  const rows = conditions.map(({ message, reason, since, status, type }) => [
    ...[type, status ? 'yes' : 'no', secondText(since), reason, message],
  ]);
  return table([['TYPE', 'HOLDS', 'SINCE', 'REASON', 'MESSAGE'], ...rows]);
}

interface ReplicaView {
  readonly id: string;
  readonly phase: string;
  readonly generation: number;
  readonly restarts: number;
  readonly url: string;
  readonly message: string;
}

function replicaLines(status: Status | undefined): string[] {
  const replicas = (status?.replicas as readonly ReplicaView[] | undefined) ?? [];
  if (replicas.length === 0) return [];
  const rows = replicas.map(({ generation, id, message, phase, restarts, url }) => [
    ...[id, phase, String(generation), String(restarts), url, message],
  ]);
  return table([['ID', 'PHASE', 'GENERATION', 'RESTARTS', 'URL', 'MESSAGE'], ...rows]);
}

/** All events here are of one resource. */
const withoutResource = (row: readonly string[]) => row.filter((_, i) => i !== 2);

const table = (rows: readonly (readonly string[])[]) =>
  indented(
    textTable(
      rows,
      rows[0]!.map(() => 'left'),
    ),
  );

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`);

const printable = (line: string) => line.replace(/\p{Cc}/gu, '?');
