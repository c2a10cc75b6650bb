import { knownNames } from '../../../kernel/text/nearest-name.js';
import { choice, field, pattern, text } from '../../../schema/fields.js';
import type { Store } from '../../../store/open-store.js';
import {
  USAGE_COUNTS,
  USAGE_DIMENSIONS,
  type UsageCounts,
  type UsageDimension,
  type UsageQuery,
} from '../../../store/usage/usage-record.js';
import { type UsageView, usageCsv, usageView } from '../../../store/usage/usage-view.js';
import { authorise } from '../../access/authorise.js';
import { workspacesWith } from '../../access/caller.js';
import type { ApiHost } from '../../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../../api-route.js';
import { isDay } from '../../calendar.js';
import { badQuery, noOwnKey } from '../../errors.js';
import { keyIn, PAGE_QUERY, type PageQuery, pageOfAll } from '../../pagination.js';
import { USAGE, USAGE_TOTAL } from '../../views/gateway-views.js';

const DAY = "a day, as in '2030-01-31'";
const day = pattern(/^\d{4}-\d\d-\d\d$/, DAY, 10);

const USAGE_QUERY = {
  ...PAGE_QUERY,
  by: field(text(200), {
    default: 'key,model',
    help: `what to tell apart, separated by commas: ${USAGE_DIMENSIONS.join(', ')}; total for one sum`,
  }),
  key: field(text(), { help: 'only of the key with this id' }),
  model: field(text(), { help: 'only of this model' }),
  endpoint: field(text(), { help: 'only of this endpoint' }),
  workspace: field(text(63), {
    help: 'only of keys and endpoints of this workspace; without it, of those in which the caller has a role',
  }),
  outcome: field(text(), { help: 'only of requests that ended so: ok, or what went wrong' }),
  from: field(day, { help: 'from this day on, UTC' }),
  to: field(day, { help: 'up to and including this day, UTC' }),
  format: field(choice(['json', 'csv']), {
    help: 'csv returns the whole table; the header accept: text/csv does the same',
  }),
};

const { by: _by, format: _format, key: _key, workspace: _workspace, ...OWN } = USAGE_QUERY;
const OWN_QUERY = {
  ...OWN,
  by: field(text(200), { default: 'model', help: 'what to tell apart, as in /api/v1/usage' }),
};

type Query = { readonly [Name in Exclude<keyof typeof USAGE_QUERY, 'limit'>]?: string | undefined } & {
  readonly by: string;
  readonly limit: number;
};

export const USAGE_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/usage',
    role: 'viewer',
    scope: 'each',
    summary: 'Sum up what was used, by key, model, endpoint, day and outcome',
    query: USAGE_QUERY,
    response: { type: 'list', schema: USAGE, more: { total: USAGE_TOTAL }, csv: true },
    handle: usage,
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/usage/own',
    role: 'none',
    scope: 'anywhere',
    summary: "Sum up what was used with the caller's own API key, by model, endpoint, day and outcome",
    query: OWN_QUERY,
    response: { type: 'list', schema: USAGE, more: { total: USAGE_TOTAL } },
    async handle(host, { caller, query }) {
      if (caller.keyId === undefined) throw noOwnKey();
      return ok(await usagePage(host, query, { ...usageQuery(query as Query), keyId: caller.keyId }));
    },
  }),
];

async function usage(host: ApiHost, { caller, header, query }: ApiRequest<unknown, undefined>) {
  const given = query as Query;
  const { store } = host;
  const { workspace } = given;
  if (workspace !== undefined) authorise(caller, { role: 'viewer', scope: 'workspace' }, workspace);
  const workspaces = workspace === undefined ? workspacesWith(caller, 'viewer') : [workspace];
  const asked = { ...usageQuery(given), ...(workspaces === undefined ? {} : { workspaces }) };
  const isCsv = given.format === undefined ? header('accept')?.startsWith('text/csv') : given.format === 'csv';
  if (!isCsv) return ok(await usagePage(host, given, asked));
  await host.servedGateway?.foldUsage();
  const views = (await store.usage.query(asked)).map((sum) => usageView(sum, asked.by));
  return { status: 200, type: 'text/csv; charset=utf-8', body: usageCsv(views, asked.by) };
}

async function usagePage({ servedGateway, store }: ApiHost, page: PageQuery, asked: UsageQuery) {
  await servedGateway?.foldUsage();
  const keyOf = (view: UsageView) => asked.by.map((dimension) => view[dimension]!);
  const after = keyIn(
    page,
    asked.by.map(() => ''),
  );
  const { sums, total } = await summedUp(store.usage, asked, after?.[0] ?? '', page.limit + 2);
  const views = sums.map((sum) => usageView(sum, asked.by));
  const rows = pageOfAll('UsageList', page, views, keyOf, (view) => view);
  const items = await withKeyNames(store, rows.items);
  return { ...rows, items, total: usageView(total, []) };
}

/**
 * The rows of a page, and the sum of all pages. Keys are many: only those of the page are read, and the sum beside them. Each has at
 * least one row, and those of the first key may all be on the pages before.
 */
async function summedUp(usage: Store['usage'], asked: UsageQuery, firstKey: string, keys: number) {
  if (asked.by[0] !== 'key') {
    const sums = await usage.query(asked);
    return { sums, total: addedUp(sums) };
  }
  const [sums, all] = await Promise.all([usage.firstByKey(asked, firstKey, keys), usage.query({ ...asked, by: [] })]);
  return { sums, total: all[0]! };
}

function addedUp(sums: readonly UsageCounts[]): UsageCounts {
  const sumOf = (name: keyof UsageCounts) => sums.reduce((sum, one) => sum + one[name], 0);
  return Object.fromEntries(USAGE_COUNTS.map((name) => [name, sumOf(name)])) as Record<keyof UsageCounts, number>;
}

/** A row by key says which key that is, as long as it exists. */
async function withKeyNames({ resources }: ApiHost['store'], views: readonly UsageView[]): Promise<UsageView[]> {
  const ids = views.flatMap(({ key }) => (key === undefined ? [] : [String(key)]));
  const keys = await resources.placesOf([...new Set(ids)]);
  return views.map((view) => {
    const key = keys.get(String(view.key));
    return key === undefined ? view : { ...view, key_name: `${key.workspace}/${key.name}` };
  });
}

function usageQuery({ by, endpoint, from, key, model, outcome, to }: Query): UsageQuery {
  for (const [name, value] of Object.entries({ from, to })) {
    if (value !== undefined && !isDay(value)) throw badQuery(name, `'${value}' does not exist`, `give ${DAY}`);
  }
  if (from !== undefined && to !== undefined && from > to) throw badQuery('to', 'is before from', 'give a later day');
  return {
    by: dimensionsIn(by),
    ...(key === undefined ? {} : { keyId: key }),
    ...(model === undefined ? {} : { model }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(from === undefined ? {} : { fromDay: from }),
    ...(to === undefined ? {} : { toDay: to }),
  };
}

function dimensionsIn(given: string): readonly UsageDimension[] {
  if (given === 'total') return [];
  const names = given.split(',');
  names.forEach((name, i) => {
    if (!(USAGE_DIMENSIONS as readonly string[]).includes(name)) {
      throw badQuery('by', `'${name}' is no dimension`, knownNames(name, USAGE_DIMENSIONS));
    }
    if (names.indexOf(name) !== i) throw badQuery('by', `'${name}' is given twice`, 'give it once');
  });
  return names as UsageDimension[];
}
