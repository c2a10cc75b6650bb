import { InvalidResources } from '../../../control/resources/errors.js';
import type { Resource } from '../../../control/resources/resource.js';
import { InputError, RunError } from '../../../kernel/errors.js';
import { ApiClient } from '../../api/api-client.js';
import { workspaceFor } from '../../api/find-server.js';
import { serverFlags, workspaceFlags } from '../../api/server-flags.js';
import { summaryOf } from '../../commands.js';
import type { CommandLine } from '../../flags/command-line.js';
import { parseFlags } from '../../flags/parse-flags.js';
import type { CliIo } from '../../io.js';
import { editStopped } from '../errors.js';
import { type CalledResource, calledResource } from '../targets/called-resource.js';
import { kindList } from '../targets/kind-list.js';
import { EditedFile } from './edited-file.js';
import { printChange } from './print-change.js';

export const EDIT: CommandLine = {
  name: 'edit',
  summary: summaryOf('edit'),
  about:
    'Opens the resource as YAML in $TWINYARD_EDITOR, $VISUAL or $EDITOR, else vi. The result is checked as by apply; when it is refused, ' +
    'the editor opens again with the reason above the text. Saving without a change cancels. Whatever fails, the edited file is kept ' +
    'and its path printed.',
  operands: { usage: 'KIND/NAME', least: 1, most: 2 },
  groups: [
    { title: 'Resource', flags: workspaceFlags },
    { title: 'Server', flags: serverFlags },
  ],
  more: kindList,
  examples: ['edit ep/chat', 'edit engine emulator'],
};

const INTRO = ['Change the fields below, save, and leave the editor. Saving without a change cancels.'];

/** Changes a resource in an editor. */
export async function edit(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof workspaceFlags & typeof serverFlags>(EDIT, argv);
  const called = await calledResource(operands, workspaceFor(values, io), EDIT);
  const client = ApiClient.of(values, io);
  const before = await client.call<Resource>('GET', called.path);
  const file = new EditedFile(called.name, io.env);
  let last = await documentOf(before);
  let problems: readonly string[] = [];
  for (;;) {
    const text = await file.edited(last, [...INTRO, ...problems]);
    if (text === last || text.trim() === '') {
      if (problems.length > 0) throw editStopped(called.shown, problems[0]!, file.path);
      file.delete();
      io.stderr.write(`twinyard: ${called.shown}: no change was made\n`);
      return 0;
    }
    last = text;
    try {
      const after = await client.call<Resource>('PUT', called.path, { body: text });
      printChange(called, before, after, false, io);
      file.delete();
      return 0;
    } catch (error) {
      problems = await problemsIn(error, client, called, file);
    }
  }
}

/** What the operator declares, and the version that the change is for. */
async function documentOf({ apiVersion, kind, metadata, spec }: Resource): Promise<string> {
  const { labels, name, resource_version, workspace } = metadata;
  const { stringify } = await import('yaml');
  const shown = { name, ...(workspace === undefined ? {} : { workspace }), labels, resource_version };
  return stringify({ apiVersion, kind, metadata: shown, spec }, { lineWidth: 0 });
}

/** What the editor shows when it opens again. Throws where another edit cannot help. */
async function problemsIn(
  error: unknown,
  client: ApiClient,
  called: CalledResource,
  file: EditedFile,
): Promise<string[]> {
  if (error instanceof RunError && error.code === 'RESOURCE_CONFLICT') {
    const now = await client.call<Resource>('GET', called.path).catch(() => null);
    if (now === null) throw editStopped(called.shown, error.message, file.path);
    const { resource_version } = now.metadata;
    return [`${error.message}; set resource_version to ${resource_version} to replace those changes`];
  }
  if (!(error instanceof InputError) || error.code.startsWith('SERVER_')) {
    throw editStopped(called.shown, (error as Error).message, file.path);
  }
  const found = error instanceof InvalidResources ? error.problems : [error];
  return found.map(({ hint, place, problem }) => `${place.replace(/^body:\d+:\d+ /, '')}: ${problem}; ${hint}`);
}
