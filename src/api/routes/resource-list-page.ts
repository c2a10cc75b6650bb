import { DEFAULT_WORKSPACE, type Resource } from '../../control/resources/resource.js';
import { resourceView } from '../../control/store/resource-view.js';
import type { ResourceRecord } from '../../store/resources/resource-record.js';
import type { Resources } from '../../store/resources/resources.js';
import { isSeen } from '../../store/resources/seen-workspaces.js';
import type { ApiHost } from '../api-host.js';
import { fileEndpointsIn } from '../changes/file-endpoints.js';
import { compareKeys, keyIn, type Page, type PageQuery, pageOf } from '../pagination.js';

export interface ResourcePage extends Page<Resource> {
  /** A watch from this version on misses nothing that happened after the first page was read. */
  readonly resource_version: number;
}

interface Wanted {
  readonly kind: string;
  readonly workspace?: string;
  /** Only those that a caller sees which sees these workspaces. */
  readonly workspaces?: readonly string[];
}

interface Filter {
  readonly selects: (labels: Readonly<Record<string, string>>) => boolean;
  readonly uid: string | undefined;
}

/** Rows read at once while filtering. */
const ROWS = 500;

/** A page of the resources of a kind, by workspace and name, those of the configuration file among them. */
export async function resourceListPage(
  host: ApiHost,
  wanted: Wanted,
  { selects, uid }: Filter,
  query: PageQuery,
): Promise<ResourcePage> {
  const after = keyIn(query, ['', '']);
  const isWanted = ({ metadata }: Resource) =>
    selects(metadata.labels) && (after === null || compareKeys(keyOf({ metadata }), after) > 0);
  const isFileSeen = uid === undefined && (wanted.workspaces?.includes(DEFAULT_WORKSPACE) ?? true);
  const ofFile = isFileSeen ? fileEndpointsIn(host, wanted).filter(isWanted) : [];
  if (!host.hasStore) return { ...paged(wanted, query, ofFile), resource_version: 0 };
  const { resources } = host.store;
  // Before the list is read: what happens meanwhile is then reported again, and never missed.
  const version = await resources.version();
  const stored =
    uid === undefined
      ? await selected(resources, wanted, after, selects, query.limit + 1)
      : await oneOf(resources, wanted, uid);
  return { ...paged(wanted, query, [...ofFile, ...stored.map(resourceView)]), resource_version: version };
}

const keyOf = ({ metadata }: Pick<Resource, 'metadata'>) => [metadata.workspace ?? '', metadata.name] as const;

const paged = ({ kind }: Wanted, query: PageQuery, all: Resource[]): Page<Resource> =>
  pageOf(
    `${kind}List`,
    query,
    all.sort((a, b) => compareKeys(keyOf(a), keyOf(b))),
    keyOf,
    (one) => one,
  );

/** The first resources after a key whose labels are selected. */
async function selected(
  resources: Resources,
  wanted: Wanted,
  after: readonly [string, string] | null,
  selects: Filter['selects'],
  limit: number,
): Promise<ResourceRecord[]> {
  const found: ResourceRecord[] = [];
  let last = after === null ? null : { workspace: after[0], name: after[1] };
  for (;;) {
    const rows = await resources.page(wanted, last, Math.max(ROWS, limit));
    for (const row of rows) if (selects(row.labels)) found.push(row);
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
