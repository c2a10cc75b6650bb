import type { Resource } from '../../control/resources/resource.js';
import { summaryOf } from '../commands.js';
import { conflictingFlags } from '../errors.js';
import { type CommandLine, helpText } from '../flags/command-line.js';
import { choice, text, toggle } from '../flags/kinds.js';
import { asksForHelp, parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { calledKind, resourceAt } from './called-resource.js';
import { ControlClient } from './control-client.js';
import { findServer } from './find-server.js';
import { ResourceTable } from './resource-table.js';
import { allWorkspacesFlags, DEFAULT_WORKSPACE, serverFlags, workspaceFlags } from './server-flags.js';
import { untilStopped } from './until-stopped.js';
import { listResources, type ResourceList, type Seen, type Watched, watchResources } from './watch-resources.js';

const getFlags = {
  ...workspaceFlags,
  ...allWorkspacesFlags,
  selector: {
    ...text({ default: null, placeholder: 'labels', help: "those with these labels: 'a=b,c!=d,e,!f'" }),
    letter: 'l',
  },
  watch: toggle({ help: 'go on with what changes, until it is stopped' }),
  output: { ...choice({ default: 'table', known: ['table', 'wide', 'yaml', 'json'], help: 'as what' }), letter: 'o' },
};

export const GET: CommandLine = {
  name: 'get',
  summary: summaryOf('get'),
  operands: { usage: 'KIND [NAME]', least: 1, most: 2 },
  groups: [
    { title: 'Resources', flags: getFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['get endpoints', 'get endpoint chat -o yaml', 'get engines -o wide', 'get endpoints -A -l team=search'],
};

/** Lists resources, or shows one, as a table or as documents that can be applied again. */
export async function get(argv: readonly string[], io: CliIo): Promise<number> {
  if (asksForHelp(argv)) {
    io.stdout.write(await helpText(GET));
    return 0;
  }
  const { operands, values } = await parseFlags<typeof getFlags & typeof serverFlags>(GET, argv);
  const [kindGiven, name = null] = operands as [string, string?];
  const everywhere = values['all-workspaces'];
  if (everywhere && values.workspace !== null) {
    throw conflictingFlags('--workspace', 'is given together with --all-workspaces', 'keep one of them');
  }
  if (everywhere && name !== null) {
    throw conflictingFlags('--all-workspaces', 'is given together with a name', 'say which workspace it is in');
  }
  const client = new ControlClient(findServer(values, io));
  const kind = await calledKind(kindGiven);
  const workspace = everywhere ? null : (values.workspace ?? DEFAULT_WORKSPACE);
  const watched: Watched = { kind, workspace, name, labels: values.selector };
  const print = await printer(watched, values.output, values.watch, io);
  if (values.watch) {
    for await (const seen of watchResources(client, watched, untilStopped(io))) print.some(seen);
  } else if (name === null) print.all(await listResources(client, watched));
  else print.one(await client.ask<Resource>('GET', resourceAt(kind, name, workspace!).path));
  return 0;
}

interface Printer {
  one(resource: Resource): void;
  all(list: ResourceList): void;
  some(seen: readonly Seen[]): void;
}

async function printer(watched: Watched, output: string, isWatch: boolean, io: CliIo): Promise<Printer> {
  const { stdout } = io;
  if (output === 'json') {
    const json = (value: unknown) => stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    const lines = (seen: readonly Seen[]) => seen.map((one) => `${JSON.stringify(one)}\n`).join('');
    return { one: json, all: json, some: (seen) => stdout.write(lines(seen)) };
  }
  if (output === 'yaml') {
    const { stringify } = await import('yaml');
    const document = (resource: Resource, head = '---\n') => `${head}${stringify(resource, { lineWidth: 0 })}`;
    return {
      one: (resource) => stdout.write(document(resource, '')),
      all: ({ items }) => stdout.write(items.map((one) => document(one)).join('')),
      some: (seen) => stdout.write(seen.map(({ resource, type }) => document(resource, `---\n# ${type}\n`)).join('')),
    };
  }
  const shape = { isWide: output === 'wide', withWorkspace: watched.workspace === null, withChange: isWatch };
  const table = new ResourceTable(watched.kind, shape);
  const rows = (seen: Parameters<typeof table.text>[0]) => stdout.write(table.text(seen, Date.now()));
  return {
    one: (resource) => rows([{ resource }]),
    all({ items }) {
      if (items.length > 0) rows(items.map((resource) => ({ resource })));
      else io.stderr.write(`twinyard: there are no ${watched.kind.plural}${whereOf(watched)}\n`);
    },
    some: rows,
  };
}

function whereOf({ kind, labels, workspace }: Watched): string {
  const where = kind.scope === 'global' || workspace === null ? '' : ` in the workspace '${workspace}'`;
  return labels === null ? where : `${where} with these labels`;
}
