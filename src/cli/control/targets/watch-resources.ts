import { setTimeout as delay } from 'node:timers/promises';
import type { ResourceKind } from '../../../control/resources/kind.js';
import { labelSelector } from '../../../control/resources/label-selector.js';
import type { Resource } from '../../../control/resources/resource.js';
import { RunError } from '../../../kernel/errors.js';
import type { ApiClient, WholeList } from '../../api/api-client.js';
import { listPath } from './called-resource.js';
import { SeenResources } from './seen-resources.js';

/** What is watched; null for all. */
export interface Watched {
  readonly kind: ResourceKind;
  readonly workspace: string | null;
  readonly name: string | null;
  readonly labels: string | null;
}

/** A part of a list: no more than this many, only these fields. */
export interface ListPart {
  readonly limit?: number | null;
  readonly fields?: string | null;
}

export type ResourceList = WholeList<Resource>;

/** `listed`: it existed when the watch began. */
export interface Seen {
  readonly type: 'listed' | 'created' | 'changed' | 'status' | 'deleting' | 'removed';
  readonly resource: Resource;
}

const AGAIN_MS = 500;

export async function listResources(
  client: ApiClient,
  { kind, labels, name, workspace }: Watched,
  signal?: AbortSignal,
  { fields = null, limit = null }: ListPart = {},
): Promise<ResourceList> {
  const options = { query: { labels, fields }, ...(signal === undefined ? {} : { signal }) };
  const list = await client.list<Resource>(listPath(kind, workspace), options, limit);
  return name === null ? list : { ...list, items: list.items.filter(({ metadata }) => metadata.name === name) };
}

/**
 * All there are, then each change once, until the signal. A server that leaves is called again from the last version seen; what it
 * does not remember any more is listed and compared, so that nothing is missed or reported twice. Throws when the server has never
 * responded, and when it refuses the caller.
 * @param lost called once each time that the connection is lost
 */
export async function* watchResources(
  client: ApiClient,
  watched: Watched,
  signal: AbortSignal,
  lost: () => void = () => {},
): AsyncGenerator<readonly Seen[]> {
  const { kind, labels, name } = watched;
  const workspace = kind.scope === 'global' ? null : watched.workspace;
  const seen = new SeenResources(labelSelector(labels ?? '', '--selector'));
  let since: number | null = null;
  let isFirst = true;
  let isLost = false;
  const opened = () => {
    isLost = false;
  };
  while (!signal.aborted) {
    try {
      if (since === null) {
        const list = await listResources(client, watched, signal);
        since = list.resource_version ?? 0;
        const changes = seen.relisted(list.items, isFirst);
        if (isFirst || changes.length > 0) yield changes;
        isFirst = false;
      }
      const query = { kind: kind.kind, workspace, name, since: String(since) };
      for await (const { data, event } of client.events('/api/v1/watch', query, signal, opened)) {
        const { version, ...change } = JSON.parse(data) as Seen & { readonly version: number };
        if (event === 'reset') since = null;
        else if (event === 'resource' || event === 'bookmark') since = version;
        const known = event === 'resource' ? seen.changed(change) : null;
        if (known !== null) yield [known];
      }
      // The server ended the stream by itself; after a reset it is called again at once.
      if (since === null || signal.aborted) continue;
    } catch (error) {
      if (signal.aborted) return;
      if (isFirst || !(error instanceof RunError)) throw error;
    }
    if (!isLost) lost();
    isLost = true;
    await delay(AGAIN_MS, undefined, { signal }).catch(() => {});
  }
}
