import type { ResourceKind } from '../../control/resources/kind.js';
import { labelSelector } from '../../control/resources/label-selector.js';
import type { Resource } from '../../control/resources/resource.js';
import { listPath } from './called-resource.js';
import type { ControlClient } from './control-client.js';
import { serverLeft } from './errors.js';

/** What is watched; null for all. */
export interface Watched {
  readonly kind: ResourceKind;
  readonly workspace: string | null;
  readonly name: string | null;
  readonly labels: string | null;
}

export interface ResourceList {
  readonly kind: string;
  readonly resource_version: number;
  readonly items: readonly Resource[];
}

/** `listed`: it was there when somebody looked. */
export interface Seen {
  readonly type: 'listed' | 'created' | 'changed' | 'status' | 'deleting' | 'removed';
  readonly resource: Resource;
}

export async function listResources(
  client: ControlClient,
  { kind, labels, name, workspace }: Watched,
  signal?: AbortSignal,
): Promise<ResourceList> {
  const asked = { query: { labels }, ...(signal === undefined ? {} : { signal }) };
  const list = await client.ask<ResourceList>('GET', listPath(kind, workspace), asked);
  return name === null ? list : { ...list, items: list.items.filter(({ metadata }) => metadata.name === name) };
}

/**
 * All there are, then each change, until the signal; nothing between the two is missed. What the server does not remember any
 * more is listed again. Throws when the server leaves.
 */
export async function* watchResources(
  client: ControlClient,
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
      isForgotten = event === 'gone';
      if (isForgotten || event === 'bookmark') continue;
      const { resource } = JSON.parse(data) as { resource: Resource };
      if (selects(resource.metadata.labels)) yield [{ type: event as Seen['type'], resource }];
    }
    if (!signal.aborted && !isForgotten) throw serverLeft(client.url);
  }
}
