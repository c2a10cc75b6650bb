import { DEFAULT_WORKSPACE, type Resource } from '../../control/resources/resource.js';
import { resourceView } from '../../control/store/resource-view.js';
import type { PageOrder, PageStart, ResourceFilter } from '../../store/resources/pages/resource-conditions.js';
import type { ResourceRecord } from '../../store/resources/resource-record.js';
import type { Resources } from '../../store/resources/resources.js';
import { isSeen } from '../../store/resources/seen-workspaces.js';
import type { ApiHost } from '../api-host.js';
import { fileEndpointsIn } from '../changes/file-endpoints.js';
import { compareKeys, keyIn, type Page, type PageQuery, pageOf } from '../pagination.js';

export interface ResourcePage extends Page<Resource> {
  /** A watch from this version on misses nothing that happened after the first page was read. */
  readonly resource_version: number;
  /** How many fit on all pages, and whether there are more than that; only where it was asked for. */
  readonly total?: number;
  readonly is_more?: boolean;
}

type Wanted = Pick<ResourceFilter, 'kind' | 'workspace' | 'workspaces' | 'labelParts'>;

interface Filter {
  /** Null where labels do not matter. */
  readonly selects: ((labels: Readonly<Record<string, string>>) => boolean) | null;
  readonly uid: string | undefined;
  /** In the name. */
  readonly search: string | undefined;
  readonly phase: string | undefined;
  readonly sort: ResourceSort;
  /** Whether those that fit are counted. */
  readonly count: boolean;
}

/** The orders of a list; with `-` the other way round. */
export const RESOURCE_SORTS = ['name', '-name', 'created', '-created'] as const;
type ResourceSort = (typeof RESOURCE_SORTS)[number];

/** Rows read at once while filtering. */
const ROWS = 500;
/** Counting ends here where every row has to be read. */
const MOST_READ = 1000;

/** A page of the resources of a kind in their order, those of the configuration file among them. */
export async function resourceListPage(
  host: ApiHost,
  wanted: Wanted,
  { count, phase, search: given, selects, sort, uid }: Filter,
  query: PageQuery,
): Promise<ResourcePage> {
  // Names have no capital letters.
  const search = given?.toLowerCase();
  const order: PageOrder = { by: sort.endsWith('name') ? 'name' : 'created', isDescending: sort.startsWith('-') };
  const keyOf = order.by === 'name' ? nameKey : timeKey;
  const after = keyIn<readonly (string | number)[]>(query, order.by === 'name' ? ['', ''] : [0, '', '']);
  const compare = (a: Resource, b: Resource) => (order.isDescending ? -1 : 1) * compareKeys(keyOf(a), keyOf(b));
  const isLater = (one: Resource) =>
    after === null || (order.isDescending ? -1 : 1) * compareKeys(keyOf(one), after) > 0;
  const hasLabels = ({ labels }: Pick<ResourceRecord, 'labels'>) => selects === null || selects(labels);
  const hasPhase = (one: Resource) => phase === undefined || one.status?.phase === phase;
  const paged = (all: Resource[]) => pageOf(`${wanted.kind}List`, query, all.sort(compare), keyOf, (one) => one);
  const isFileSeen = uid === undefined && (wanted.workspaces?.includes(DEFAULT_WORKSPACE) ?? true);
  const allOfFile = (isFileSeen ? fileEndpointsIn(host, wanted) : []).filter(
    (one) => hasLabels(one.metadata) && one.metadata.name.includes(search ?? '') && hasPhase(one),
  );
  const ofFile = allOfFile.filter(isLater);
  const counted = (stored: number, isMore: boolean) =>
    count ? { total: allOfFile.length + stored, is_more: isMore } : {};
  if (!host.hasStore) return { ...paged(ofFile), resource_version: 0, ...counted(0, false) };
  const { resources } = host.store;
  // Before the list is read: what happens meanwhile is then reported again, and never missed.
  const version = await resources.version();
  const asked = {
    ...{ ...wanted, order },
    ...(search === undefined ? {} : { search }),
    ...(phase === undefined ? {} : { phase }),
  };
  const fits = (row: ResourceRecord) => hasLabels(row) && (phase === undefined || hasPhase(resourceView(row)));
  const start = after === null ? null : startAt(after, order);
  const page = (stored: readonly ResourceRecord[]) => ({
    ...paged([...ofFile, ...stored.map(resourceView)]),
    resource_version: version,
  });
  if (uid !== undefined) {
    const one = await oneOf(resources, wanted, uid);
    return { ...page(one), ...counted(one.length, false) };
  }
  const stored = await selected(resources, asked, start, fits, query.limit + 1);
  if (!count) return page(stored);
  // What an index or a name decides is counted by the store.
  if (phase === undefined && selects === null) {
    return { ...page(stored), ...counted(await resources.countFitting(asked), false) };
  }
  const isWhole = start === null && stored.length <= query.limit;
  const fitting = isWhole ? stored : await selected(resources, asked, null, fits, MOST_READ + 1);
  return { ...page(stored), ...counted(Math.min(fitting.length, MOST_READ), fitting.length > MOST_READ) };
}

const nameKey = ({ metadata }: Pick<Resource, 'metadata'>) => [metadata.workspace ?? '', metadata.name];
/** An endpoint of the configuration file has no time: it is the oldest. */
const timeKey = (one: Pick<Resource, 'metadata'>) => [
  Date.parse(one.metadata.created_at ?? '1970-01-01T00:00:00Z'),
  ...nameKey(one),
];

function startAt(key: readonly (string | number)[], { by }: PageOrder): PageStart {
  const [workspace, name] = key.slice(-2) as [string, string];
  return by === 'name' ? { workspace, name } : { workspace, name, createdAt: key[0] as number };
}

/** The first resources from a start on that fit. */
async function selected(
  resources: Resources,
  wanted: ResourceFilter,
  start: PageStart | null,
  fits: (row: ResourceRecord) => boolean,
  limit: number,
): Promise<ResourceRecord[]> {
  const found: ResourceRecord[] = [];
  for (let last = start; ; ) {
    const rows = await resources.page(wanted, last, Math.max(ROWS, limit));
    for (const row of rows) if (fits(row)) found.push(row);
    if (found.length >= limit || rows.length < Math.max(ROWS, limit)) return found.slice(0, limit);
    last = rows.at(-1)!;
  }
}

async function oneOf(resources: Resources, wanted: Wanted, uid: string): Promise<ResourceRecord[]> {
  const { kind, workspace, workspaces } = wanted;
  const record = await resources.byUid(uid);
  const isWanted = record?.kind === kind && (workspace === undefined || record.workspace === workspace);
  return isWanted && isSeen(record, workspaces) ? [record] : [];
}
