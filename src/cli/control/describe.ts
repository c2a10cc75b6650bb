import type { Resource } from '../../control/resources/resource.js';
import { ApiClient } from '../api/api-client.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import type { CommandLine } from '../flags/command-line.js';
import { asksForHelp, parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { describePage } from './print/describe-page.js';
import type { EventView } from './print/event-rows.js';
import { calledResource } from './targets/called-resource.js';
import { helpWithKinds } from './targets/help-with-kinds.js';

const RECENT = 20;

export const DESCRIBE: CommandLine = {
  name: 'describe',
  summary: summaryOf('describe'),
  operands: { usage: 'KIND NAME', least: 2, most: 2 },
  groups: [
    { title: 'Resource', flags: workspaceFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['describe endpoint chat', 'describe engine emulator'],
};

/** Everything about one resource on a page: what it is, how it is, and what has happened to it lately. */
export async function describe(argv: readonly string[], io: CliIo): Promise<number> {
  if (asksForHelp(argv)) {
    io.stdout.write(await helpWithKinds(DESCRIBE));
    return 0;
  }
  const { operands, values } = await parseFlags<typeof workspaceFlags & typeof serverFlags>(DESCRIBE, argv);
  const { kind, name, path, workspace } = await calledResource(operands[0]!, operands[1]!, values.workspace);
  const client = ApiClient.of(values, io);
  const resource = await client.call<Resource>('GET', path);
  const query = { kind: kind.kind, workspace: workspace || null, name, limit: String(RECENT) };
  const { items } = await client.call<{ items: EventView[] }>('GET', '/api/v1/events', { query });
  io.stdout.write(await describePage(resource, items.reverse(), Date.now()));
  return 0;
}
