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
import { type CalledResource, calledNames, MOST_NAMES } from './targets/called-resource.js';
import { kindList } from './targets/kind-list.js';
import { selectedResources, selectorFlags } from './targets/selected-resources.js';

const RECENT = 20;

const describeFlags = { ...workspaceFlags, ...selectorFlags };

export const DESCRIBE: CommandLine = {
  name: 'describe',
  summary: summaryOf('describe'),
  about:
    'Use it to see why a resource is not ready: conditions, the last log lines of a failed replica and recent events are on one page.',
  operands: { usage: 'KIND[/NAME]...', least: 1, most: MOST_NAMES + 1 },
  groups: [
    { title: 'Resources', flags: describeFlags },
    { title: 'Server', flags: serverFlags },
  ],
  more: kindList,
  examples: ['describe ep/chat', 'describe engine emulator', 'describe ep -l team=search'],
};

/** Prints a resource with its status and recent events. */
export async function describe(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof describeFlags & typeof serverFlags>(DESCRIBE, argv);
  const client = ApiClient.of(values, io);
  const all = !(await calledNames(operands)).some(({ names }) => names.length > 0);
  const called = await selectedResources(client, operands, workspaceFor(values, io), { ...values, all }, DESCRIBE);
  if (called.length === 0) io.stderr.write('twinyard: no resources were selected\n');
  for (const [i, one] of called.entries()) {
    const page = await pageOf(client, one, tableWidth(io.stdout, io.env));
    io.stdout.write(i === 0 ? page : `\n\n${page}`);
  }
  return 0;
}

async function pageOf(
  client: ApiClient,
  { kind, name, path, workspace }: CalledResource,
  width: number,
): Promise<string> {
  const resource = await client.call<Resource>('GET', path);
  const query = { kind: kind.kind, workspace: workspace || null, name, limit: String(RECENT) };
  const { items } = await client.call<{ items: EventView[] }>('GET', '/api/v1/events', { query });
  return describePage(resource, items.reverse(), Date.now(), width);
}
