import { InvalidResources } from '../../control/resources/errors.js';
import type { Resource } from '../../control/resources/resource.js';
import { refOf } from '../../control/store/resource-view.js';
import { InputError } from '../../kernel/errors.js';
import type { ResourceRecord } from '../../store/resources/resource-record.js';
import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import type { CommandLine } from '../flags/command-line.js';
import { toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { notOfFiles, oneOrTheOther } from './errors.js';
import { type CalledResource, MOST_NAMES, resourceAt } from './targets/called-resource.js';
import { kindList } from './targets/kind-list.js';
import { fileFlags, readFiles } from './targets/read-files.js';
import { selectedResources, selectionFlags } from './targets/selected-resources.js';
import { timeoutFlags, waitFor } from './targets/wait-for.js';

const deleteFlags = {
  ...fileFlags,
  ...selectionFlags,
  'ignore-not-found': toggle({ help: 'a resource that does not exist is no error' }),
  wait: toggle({ help: 'wait until the resources and their replicas are removed' }),
  ...timeoutFlags,
  ...workspaceFlags,
};

export const DELETE: CommandLine = {
  name: 'delete',
  summary: summaryOf('delete'),
  about:
    'Deleting an endpoint lets its replicas finish their requests before they stop. A resource that another one refers to is not ' +
    'deleted; the resources of a file are deleted before those that they refer to.',
  operands: { usage: '[KIND/NAME...]', least: 0, most: MOST_NAMES + 1 },
  groups: [
    { title: 'Resources', flags: deleteFlags },
    { title: 'Server', flags: serverFlags },
  ],
  more: kindList,
  examples: [
    'delete ep/chat',
    'delete endpoints chat',
    'delete ep -l team=search',
    'delete -f examples/endpoints/emulated.yaml --wait',
  ],
};

/** Deletes resources, each before the resources that it refers to. */
export async function deleteCommand(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof deleteFlags & typeof serverFlags>(DELETE, argv);
  const isFiles = values.file.length > 0;
  if (isFiles === operands.length > 0) throw oneOrTheOther('delete');
  const workspace = workspaceFor(values, io);
  if (isFiles && (values.all || values.selector !== null)) throw notOfFiles(values.all ? '--all' : '--selector');
  const client = ApiClient.of(values, io);
  const called = isFiles
    ? await calledIn(values.file, workspace, io)
    : await selectedResources(client, operands, workspace, values, DELETE);
  if (called.length === 0) io.stderr.write('twinyard: no resources were selected\n');
  for (const one of called) {
    const uid = await deleteOne(client, one, isFiles || values['ignore-not-found']);
    if (uid !== null && values.wait) {
      const isMet = (now: Resource | null) => now?.metadata.uid !== uid;
      const condition = { shown: 'deleted', isMet, isLost: () => false };
      await waitFor(client, one, condition, values.timeout);
    }
    io.stdout.write(`${one.shown} ${uid === null ? 'does not exist' : values.wait ? 'deleted' : 'deleting'}\n`);
  }
  return 0;
}

/** Its uid; null when it does not exist, which is no error for a whole file. */
async function deleteOne(client: ApiClient, { path }: CalledResource, mayBeGone: boolean): Promise<string | null> {
  try {
    return (await client.call<Resource>('DELETE', path)).metadata.uid!;
  } catch (error) {
    if (mayBeGone && error instanceof InputError && error.code === 'RESOURCE_UNKNOWN') return null;
    throw error;
  }
}

async function calledIn(paths: readonly string[], workspace: string, io: CliIo): Promise<CalledResource[]> {
  const [{ KINDS }, { readResources }, { usersOf }] = await Promise.all([
    import('../../control/resources/kinds.js'),
    import('../../control/resources/read-resources.js'),
    import('../../control/store/references.js'),
  ]);
  const files = await readFiles(paths, io);
  try {
    const written = readResources(files.text, 'body', workspace);
    // References need no other fields of a record.
    const left = written.map(({ resource }) => ({ ...refOf(resource), spec: resource.spec }) as ResourceRecord);
    const ordered: CalledResource[] = [];
    while (left.length > 0) {
      const free = left.findIndex((one) => usersOf(one, left).length === 0);
      const { kind, name, workspace } = left.splice(Math.max(0, free), 1)[0]!;
      ordered.push(resourceAt(KINDS.find((one) => one.kind === kind)!, name, workspace));
    }
    return ordered;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { code, place, problem, hint } = error instanceof InvalidResources ? error.problems[0]! : error;
    throw new InputError(code, files.placeIn(place), problem, hint);
  }
}
