import { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/nearest-name.js';
import { USAGE_DIMENSIONS, type UsageDimension, type UsageQuery } from '../../store/usage/usage-record.js';
import { usageCsv, usageView } from '../../store/usage/usage-view.js';
import type { AdminHost } from './admin-host.js';
import { noStore } from './admin-keys.js';
import { type AdminRequest, type AdminResponse, ok } from './admin-route.js';
import { isDay } from './calendar.js';

const DEFAULT_BY: readonly UsageDimension[] = ['key', 'model'];
const FILTERS = { key: 'keyId', model: 'model', endpoint: 'endpoint', outcome: 'outcome' } as const;
const DAYS = { from: 'fromDay', to: 'toDay' } as const;
const KNOWN = [...Object.keys(FILTERS), ...Object.keys(DAYS), 'by', 'format'];
const badQuery = (place: string, problem: string, hint: string) =>
  new InputError('USAGE_QUERY_INVALID', place, problem, hint);

/** `GET /api/usage`: sums by what is asked for, as JSON or, for spreadsheets, as CSV. */
export async function showUsage(host: AdminHost, { accept, query }: AdminRequest): Promise<AdminResponse> {
  const { store } = host;
  if (store === null) return noStore();
  const asked = readUsageQuery(query);
  const isCsv = wantsCsv(query, accept);
  await host.foldUsage();
  const views = (await store.usage.query(asked)).map((sum) => usageView(sum, asked.by));
  if (!isCsv) return ok(views);
  return { status: 200, type: 'text/csv; charset=utf-8', body: usageCsv(views, asked.by) };
}

export function readUsageQuery(query: URLSearchParams): UsageQuery {
  const asked: { -readonly [Key in keyof UsageQuery]?: string } = {};
  for (const name of query.keys()) {
    if (!KNOWN.includes(name)) throw badQuery(name, 'is not known', knownNames(name, KNOWN));
    if (query.getAll(name).length > 1) throw badQuery(name, 'is given twice', 'give it once');
  }
  for (const [name, key] of Object.entries(FILTERS)) {
    const value = query.get(name);
    if (value !== null) asked[key] = value;
  }
  for (const [name, key] of Object.entries(DAYS)) {
    const value = query.get(name);
    if (value === null) continue;
    if (!isDay(value)) throw badQuery(name, `'${value}' is no day`, 'give one as 2030-01-31');
    asked[key] = value;
  }
  const { fromDay, toDay } = asked;
  if (fromDay !== undefined && toDay !== undefined && fromDay > toDay) {
    throw badQuery('to', 'is before from', 'give a later day');
  }
  return { ...asked, by: readBy(query.get('by')) };
}

function readBy(given: string | null): readonly UsageDimension[] {
  if (given === null) return DEFAULT_BY;
  if (given === 'total') return [];
  const names = given.split(',');
  const known: readonly string[] = USAGE_DIMENSIONS;
  names.forEach((name, i) => {
    if (!known.includes(name)) throw badQuery('by', `'${name}' is not known`, knownNames(name, known));
    if (names.indexOf(name) !== i) throw badQuery('by', `'${name}' is given twice`, 'give it once');
  });
  return names as UsageDimension[];
}

function wantsCsv(query: URLSearchParams, accept: string): boolean {
  const format = query.get('format');
  if (format === null) return accept.startsWith('text/csv');
  if (format !== 'csv' && format !== 'json') throw badQuery('format', `'${format}' is not known`, 'give json or csv');
  return format === 'csv';
}
