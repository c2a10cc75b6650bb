import type { ResourceKind } from '../../../control/resources/kind.js';
import { labelSelector } from '../../../control/resources/label-selector.js';
import type { Resource } from '../../../control/resources/resource.js';
import type { ApiClient, WholeList } from '../../api/api-client.js';
import { serverLeft } from '../../api/errors.js';
import { listPath } from './called-resource.js';

/** What is watched; null for all. */
export interface Watched {
  readonly kind: ResourceKind;
  readonly workspace: string | null;
  readonly name: string | null;
  readonly labels: string | null;
}

export type ResourceList = WholeList<Resource>;

/** `listed`: it existed when the watch began. */
export interface Seen {
  readonly type: 'listed' | 'created' | 'changed' | 'status' | 'deleting' | 'removed';
  readonly resource: Resource;
}

export async function listResources(
  client: ApiClient,
  { kind, labels, name, workspace }: Watched,
  signal?: AbortSignal,
): Promise<ResourceList> {
  const options = { query: { labels }, ...(signal === undefined ? {} : { signal }) };
  const list = await client.list<Resource>(listPath(kind, workspace), options);
  return name === null ? list : { ...list, items: list.items.filter(({ metadata }) => metadata.name === name) };
}

/**
 * All there are, then each change, until the signal; nothing between the two is missed. What the server does not
 * remember any more is listed again. Throws when the server leaves.
 */
export async function* watchResources(
  client: ApiClient,
  watched: Watched,
  signal: AbortSignal,
): AsyncGenerator<readonly Seen[]> {
  const { kind, labels, name, workspace } = watched;
  const selects = labelSelector(labels ?? '', '--selector');
  while (!signal.aborted) {
    const list = await listResources(client, watched, signal).catch((error: unknown) => {
      if (signal.aborted) return null;
      throw error;
    });
    if (list === null) return;
    yield list.items.map((resource) => ({ type: 'listed', resource }));
    let isForgotten = false;
    const query = { kind: kind.kind, workspace, name, since: String(list.resource_version) };
    for await (const { data, event } of client.events('/api/v1/watch', query, signal)) {
      isForgotten = event === 'reset';
      if (event !== 'resource') continue;
      const change = JSON.parse(data) as Seen;
      if (selects(change.resource.metadata.labels)) yield [change];
    }
    if (!signal.aborted && !isForgotten) throw serverLeft(client.url);
  }
}
