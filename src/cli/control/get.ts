import { DEFAULT_WORKSPACE, type Resource } from '../../control/resources/resource.js';
import { InputError } from '../../kernel/errors.js';
import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { allWorkspacesFlags, serverFlags, watchFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import { conflictingFlags } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { count, toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { notOfAll, onlyModels, watchesOne } from './errors.js';
import { getModels, isModels, modelFlags } from './get-models.js';
import { formatFlag, type ResourceFormat } from './print/resource-format.js';
import { isOneDocument, printer } from './print/resource-printer.js';
import { withoutTitles } from './print/without-titles.js';
import { type CalledNames, calledNames, MOST_NAMES, resourceAt } from './targets/called-resource.js';
import { kindList } from './targets/kind-list.js';
import { noSuchWorkspace } from './targets/no-such-workspace.js';
import { connectionLost } from './targets/resumed-events.js';
import { selectorFlags } from './targets/selected-resources.js';
import { untilStopped } from './targets/until-stopped.js';
import { listResources, type Watched, watchResources } from './targets/watch-resources.js';

const getFlags = {
  ...workspaceFlags,
  ...allWorkspacesFlags,
  ...selectorFlags,
  limit: count({ default: null, min: 1, help: 'print no more than this many resources of a kind' }),
  ...watchFlags,
  ...formatFlag,
  'no-headers': toggle({ help: 'print tables without their titles' }),
};

type GetFlags = typeof getFlags & typeof modelFlags & typeof serverFlags;

export const GET: CommandLine = {
  name: 'get',
  summary: summaryOf('get'),
  about:
    "Prints a table that fits the terminal; '-o wide' prints every column, '-o yaml' documents that 'twinyard apply' accepts, '-o " +
    "name' names that every command accepts. 'get all' lists every kind, 'get models --registry NAME' the models of a registry. " +
    "'--watch' continues after a restart of the server, without a line twice.",
  operands: { usage: 'KIND[/NAME]...|all|models', least: 1, most: MOST_NAMES + 1 },
  groups: [
    { title: 'Resources', flags: getFlags },
    { title: 'Models', flags: modelFlags },
    { title: 'Server', flags: serverFlags },
  ],
  more: kindList,
  examples: [
    'get endpoints',
    'get ep/chat -o yaml',
    'get engines,clusters -o wide',
    'get endpoints -A -l team=search',
    'get ep -o name',
    'get endpoints --limit 20',
    'get ep -A --no-headers',
    "get ep chat -o 'jsonpath={.status.phase}'",
    'get ep -o custom-columns=NAME:.metadata.name,MODEL:.spec.model.name',
    'get all',
  ],
};

/** Lists resources, or prints some, as a table or as documents that can be applied again. */
export async function get(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<GetFlags>(GET, argv);
  const [first, ...others] = operands as [string, ...string[]];
  const client = ApiClient.of(values, io);
  const workspace = values['all-workspaces'] ? null : workspaceFor(values, io);
  if (isModels(first)) {
    checkTogether(values, others.length);
    await getModels(client, { ...values, workspace: workspace ?? DEFAULT_WORKSPACE, names: others }, io);
    return 0;
  }
  if (values.registry !== null || values.search !== null) throw onlyModels(values.registry === null);
  const { limit, output, 'no-headers': noHeaders, selector: labels } = values;
  const asked = { workspace, labels, output, noHeaders, limit };
  if (first === 'all') {
    if (others.length > 0 || values.watch) throw notOfAll(values.watch);
    const { KINDS } = await import('../../control/resources/kinds.js');
    await getKinds(
      client,
      KINDS.map((kind) => ({ kind, names: [] })),
      asked,
      io,
    );
    return 0;
  }
  const called = await calledNames(operands);
  checkTogether(
    values,
    called.reduce((sum, { names }) => sum + names.length, 0),
  );
  if (called.length > 1) {
    if (values.watch) throw watchesOne();
    await getKinds(client, called, asked, io);
    return 0;
  }
  await getKind(client, called[0]!, asked, values.watch, io);
  return 0;
}

function checkTogether(values: FlagValues<GetFlags>['values'], names: number): void {
  const everywhere = values['all-workspaces'];
  if (everywhere && values.workspace !== null) {
    throw conflictingFlags('--workspace', 'is given together with --all-workspaces', 'keep one of them');
  }
  if (everywhere && names > 0) {
    throw conflictingFlags('--all-workspaces', 'is given together with a name', 'name its workspace with -n');
  }
  if (values.limit !== null && (names > 0 || values.watch)) {
    const other = values.watch ? '--watch' : 'a name';
    throw conflictingFlags('--limit', `is given together with ${other}`, 'it is for lists: leave one of them out');
  }
  if (values.watch && names > 1) {
    throw conflictingFlags('--watch', 'is given together with several names', 'give one name, or none');
  }
}

interface Asked extends Pick<Watched, 'workspace' | 'labels'> {
  readonly output: ResourceFormat;
  readonly limit: number | null;
  readonly noHeaders: boolean;
}

/** The fields that a format prints, where that is known and saves most of a response; null for all. */
const fieldsOf = ({ type }: ResourceFormat) => (type === 'name' ? 'kind,metadata.name' : null);

/** Prints the resources of one kind: all, some by name, or each change of them. */
async function getKind(
  client: ApiClient,
  { kind, names }: CalledNames,
  asked: Asked,
  isWatch: boolean,
  io: CliIo,
): Promise<void> {
  const { labels, noHeaders, output, workspace } = asked;
  const watched: Watched = { kind, workspace, name: names[0] ?? null, labels };
  const print = await printer(watched, output, isWatch, noHeaders ? withoutTitles(output, io) : io);
  if (isWatch) {
    const lost = () => connectionLost(client, io);
    for await (const seen of watchResources(client, watched, untilStopped(io), lost)) print.some(seen);
    return;
  }
  const { items, missing } = await itemsOf(client, { kind, names }, asked, io);
  if (names.length === 1 && missing.length === 0) print.one(items[0]!);
  else if (names.length === 0 && items.length === 0 && isTable(output) && (await noSuchWorkspace(client, watched, io)))
    return;
  else if (items.length > 0 || missing.length === 0) print.all({ kind: `${kind.kind}List`, items });
  reportMissing(missing, io);
}

const isTable = ({ type }: ResourceFormat) => type === 'table' || type === 'wide';

/** Names that do not exist are reported after the resources that do. */
function reportMissing(missing: readonly InputError[], io: CliIo): void {
  for (const { message } of missing.slice(0, -1)) io.stderr.write(`twinyard: ${message}\n`);
  if (missing.length > 0) throw missing.at(-1)!;
}

interface Items {
  readonly items: readonly Resource[];
  readonly missing: readonly InputError[];
}

async function itemsOf(
  client: ApiClient,
  { kind, names }: CalledNames,
  { labels, limit, output, workspace }: Asked,
  io: CliIo,
): Promise<Items> {
  const fields = fieldsOf(output);
  if (names.length === 0) {
    const watched = { kind, workspace, name: null, labels };
    const { hasMore, items } = await listResources(client, watched, undefined, { fields, limit });
    if (hasMore) io.stderr.write(`twinyard: there are more than ${limit} ${kind.plural}\n`);
    return { items, missing: [] };
  }
  const items: Resource[] = [];
  const missing: InputError[] = [];
  for (const name of names) {
    try {
      const { path } = resourceAt(kind, name, workspace!);
      items.push(await client.call<Resource>('GET', path, { query: { fields } }));
    } catch (error) {
      if (!(error instanceof InputError) || error.code !== 'RESOURCE_UNKNOWN') throw error;
      missing.push(error);
    }
  }
  return { items, missing };
}

/** Prints what there is of several kinds: a table for each that has any, or all of it as one document. */
async function getKinds(client: ApiClient, called: readonly CalledNames[], asked: Asked, io: CliIo): Promise<void> {
  const { labels, noHeaders, output, workspace } = asked;
  const found: Resource[] = [];
  const missing: InputError[] = [];
  for (const one of called) {
    const { items, missing: unknown } = await itemsOf(client, one, asked, io);
    missing.push(...unknown);
    if (items.length === 0) continue;
    const { kind } = one;
    if (isTable(output) && !noHeaders) io.stdout.write(`${found.length === 0 ? '' : '\n'}${kind.plural}:\n`);
    const watched = { kind, workspace, name: null, labels };
    if (!isOneDocument(output)) {
      const shown = noHeaders ? withoutTitles(output, io) : io;
      (await printer(watched, output, false, shown)).all({ kind: `${kind.kind}List`, items });
    }
    found.push(...items);
  }
  const whole = { kind: 'List', items: found };
  if (isOneDocument(output)) {
    const watched = { kind: called[0]!.kind, workspace, name: null, labels };
    (await printer(watched, output, false, io)).all(whole);
  } else if (found.length === 0 && missing.length === 0) io.stderr.write('twinyard: no resources\n');
  reportMissing(missing, io);
}
