import type { Resource } from '../../control/resources/resource.js';
import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, tableWidth } from '../io.js';
import { describePage } from './print/describe-page.js';
import type { EventView } from './print/event-rows.js';
import { calledResource } from './targets/called-resource.js';
import { kindList } from './targets/kind-list.js';

const RECENT = 20;

export const DESCRIBE: CommandLine = {
  name: 'describe',
  summary: summaryOf('describe'),
  about:
    'Use it to see why a resource is not ready: conditions, the last log lines of a failed replica and recent events are on one page.',
  operands: { usage: 'KIND/NAME', least: 1, most: 2 },
  groups: [
    { title: 'Resource', flags: workspaceFlags },
    { title: 'Server', flags: serverFlags },
  ],
  more: kindList,
  examples: ['describe ep/chat', 'describe engine emulator'],
};

/** Prints a resource with its status and recent events. */
export async function describe(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof workspaceFlags & typeof serverFlags>(DESCRIBE, argv);
  const { kind, name, path, workspace } = await calledResource(operands, workspaceFor(values, io), DESCRIBE);
  const client = ApiClient.of(values, io);
  const resource = await client.call<Resource>('GET', path);
  const query = { kind: kind.kind, workspace: workspace || null, name, limit: String(RECENT) };
  const { items } = await client.call<{ items: EventView[] }>('GET', '/api/v1/events', { query });
  io.stdout.write(await describePage(resource, items.reverse(), Date.now(), tableWidth(io.stdout, io.env)));
  return 0;
}
