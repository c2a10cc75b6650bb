import type { Resource } from '../../control/resources/resource.js';
import type { ApiClient } from '../api/api-client.js';
import type { CliIo } from '../io.js';
import { printer } from './print/resource-printer.js';
import { listResources, type Watched } from './targets/watch-resources.js';

interface Asked extends Pick<Watched, 'workspace' | 'labels'> {
  readonly output: string;
}

/** Lists what there is of every kind: a table for each that has any, or all of it as documents. */
export async function getAll(client: ApiClient, { labels, output, workspace }: Asked, io: CliIo): Promise<void> {
  const { KINDS } = await import('../../control/resources/kinds.js');
  const found: Resource[] = [];
  for (const kind of KINDS) {
    const watched = { kind, workspace, name: null, labels };
    const list = await listResources(client, watched);
    if (list.items.length === 0) continue;
    if (output !== 'json') {
      if (output !== 'yaml') io.stdout.write(`${found.length === 0 ? '' : '\n'}${kind.plural}:\n`);
      (await printer(watched, output, false, io)).all(list);
    }
    found.push(...list.items);
  }
  if (output === 'json') io.stdout.write(`${JSON.stringify({ kind: 'List', items: found }, null, 2)}\n`);
}
