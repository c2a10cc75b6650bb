import { DEFAULT_WORKSPACE, type Resource } from '../../control/resources/resource.js';
import { ApiClient } from '../api/api-client.js';
import { allWorkspacesFlags, serverFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import { conflictingFlags } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { choiceFlag, stringFlag, toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { notOfAll, onlyModels } from './errors.js';
import { getModels, isModels, modelFlags } from './get-models.js';
import { printer } from './print/resource-printer.js';
import { calledKind, MOST_NAMES, resourceAt } from './targets/called-resource.js';
import { kindList } from './targets/kind-list.js';
import { untilStopped } from './targets/until-stopped.js';
import { listResources, type Watched, watchResources } from './targets/watch-resources.js';

const getFlags = {
  ...workspaceFlags,
  ...allWorkspacesFlags,
  selector: {
    ...stringFlag({ default: null, placeholder: 'labels', help: "only resources with these labels: 'a=b,c!=d,e,!f'" }),
    letter: 'l',
  },
  watch: toggle({ help: 'print changes until interrupted' }),
  output: {
    ...choiceFlag({ default: 'table', known: ['table', 'wide', 'yaml', 'json'], help: 'output format' }),
    letter: 'o',
  },
};

type GetFlags = typeof getFlags & typeof modelFlags & typeof serverFlags;

export const GET: CommandLine = {
  name: 'get',
  summary: summaryOf('get'),
  about:
    "Prints a table that fits the terminal; '-o wide' prints every column, '-o yaml' documents that 'twinyard apply' accepts. " +
    "'get all' lists every kind, 'get models --registry NAME' the models of a registry.",
  operands: { usage: 'KIND|all|models [NAME...]', least: 1, most: MOST_NAMES + 1 },
  groups: [
    { title: 'Resources', flags: getFlags },
    { title: 'Models', flags: modelFlags },
    { title: 'Server', flags: serverFlags },
  ],
  more: kindList,
  examples: [
    'get endpoints',
    'get endpoint chat -o yaml',
    'get engines -o wide',
    'get endpoints -A -l team=search',
    'get all',
  ],
};

/** Lists resources, or prints some, as a table or as documents that can be applied again. */
export async function get(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<GetFlags>(GET, argv);
  const [kindGiven, ...names] = operands as [string, ...string[]];
  checkTogether(values, names);
  const client = ApiClient.of(values, io);
  const workspace = values['all-workspaces'] ? null : (values.workspace ?? DEFAULT_WORKSPACE);
  if (isModels(kindGiven)) {
    await getModels(client, { ...values, workspace: workspace ?? DEFAULT_WORKSPACE, names }, io);
    return 0;
  }
  if (values.registry !== null || values.search !== null) throw onlyModels(values.registry === null);
  if (kindGiven === 'all') {
    if (names.length > 0 || values.watch) throw notOfAll(values.watch);
    await getAll(client, { workspace, labels: values.selector, output: values.output }, io);
    return 0;
  }
  const kind = await calledKind(kindGiven);
  const watched: Watched = { kind, workspace, name: names[0] ?? null, labels: values.selector };
  const print = await printer(watched, values.output, values.watch, io);
  if (values.watch) {
    for await (const seen of watchResources(client, watched, untilStopped(io))) print.some(seen);
  } else if (names.length === 0) print.all(await listResources(client, watched));
  else {
    const found: Resource[] = [];
    for (const name of names) found.push(await client.call<Resource>('GET', resourceAt(kind, name, workspace!).path));
    if (names.length === 1) print.one(found[0]!);
    else print.all({ kind: `${kind.kind}List`, items: found });
  }
  return 0;
}

function checkTogether(values: FlagValues<GetFlags>['values'], names: readonly string[]): void {
  const everywhere = values['all-workspaces'];
  if (everywhere && values.workspace !== null) {
    throw conflictingFlags('--workspace', 'is given together with --all-workspaces', 'keep one of them');
  }
  if (everywhere && names.length > 0) {
    throw conflictingFlags('--all-workspaces', 'is given together with a name', 'name its workspace with -w');
  }
  if (values.watch && names.length > 1) {
    throw conflictingFlags('--watch', 'is given together with several names', 'give one name, or none');
  }
}

interface Asked extends Pick<Watched, 'workspace' | 'labels'> {
  readonly output: string;
}

/** Lists what there is of every kind: a table for each that has any, or all of it as documents. */
async function getAll(client: ApiClient, { labels, output, workspace }: Asked, io: CliIo): Promise<void> {
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
