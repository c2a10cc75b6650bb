import type { Resource } from '../../../control/resources/resource.js';
import { RunError } from '../../../kernel/errors.js';
import { ApiClient } from '../../api/api-client.js';
import { workspaceFor } from '../../api/find-server.js';
import { serverFlags, workspaceFlags } from '../../api/server-flags.js';
import { summaryOf } from '../../commands.js';
import { badValue, conflictingFlags, missingFlag } from '../../errors.js';
import type { CommandLine } from '../../flags/command-line.js';
import type { FlagValues } from '../../flags/flag.js';
import { choiceFlag, count, file, stringFlag, toggle } from '../../flags/kinds.js';
import { parseFlags } from '../../flags/parse-flags.js';
import type { CliIo } from '../../io.js';
import { calledResource } from '../targets/called-resource.js';
import { kindList } from '../targets/kind-list.js';
import { readFiles } from '../targets/read-files.js';
import { printChange } from './print-change.js';

const MOST_TRIES = 10;

const patchFlags = {
  patch: {
    ...stringFlag({
      default: null,
      placeholder: 'json',
      help: 'fields to change, null deletes one; or a list of RFC 6902 operations; JSON or YAML',
    }),
    letter: 'p',
  },
  type: choiceFlag({
    default: null,
    known: ['merge', 'json'],
    help: "form of the patch: 'merge' is a map of fields, 'json' a list of operations",
    defaultText: 'that of the patch',
  }),
  'patch-file': file({ help: 'a file that holds the patch, or - for stdin' }),
  'resource-version': count({
    default: null,
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    help: 'refuse the change if the resource was changed since this version',
  }),
  'dry-run': toggle({ help: 'print the changes without making them' }),
  ...workspaceFlags,
};

export const PATCH: CommandLine = {
  name: 'patch',
  summary: summaryOf('patch'),
  about:
    'A map is a JSON merge patch: it changes the fields that it names and leaves the others as they are. A list is a JSON patch (RFC ' +
    '6902). The result is checked as by apply, and needs the same role. A change that another one came before is made again, unless ' +
    '--resource-version is given.',
  operands: { usage: 'KIND/NAME', least: 1, most: 2 },
  groups: [
    { title: 'Change', flags: patchFlags },
    { title: 'Server', flags: serverFlags },
  ],
  more: kindList,
  examples: [
    'patch ep/chat -p \'{"spec":{"replicas":2}}\'',
    'patch ep/chat -p \'{"metadata":{"labels":{"team":"search"}}}\' --dry-run',
    'patch ep/chat -p \'[{"op":"replace","path":"/spec/replicas","value":3}]\'',
  ],
};

/** Changes parts of a resource. */
export async function patch(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof patchFlags & typeof serverFlags>(PATCH, argv);
  const called = await calledResource(operands, workspaceFor(values, io), PATCH);
  const body = await bodyOf(values, io);
  const client = ApiClient.of(values, io);
  const dryRun = values['dry-run'];
  const asked = values['resource-version'];
  for (let tries = 1; ; tries++) {
    const before = await client.call<Resource>('GET', called.path);
    const version = asked ?? before.metadata.resource_version;
    const options = { query: { dry_run: String(dryRun) }, body, ...(version === undefined ? {} : { version }) };
    try {
      const after = await client.call<Resource>('PATCH', called.path, options);
      printChange(called, before, after, dryRun, io);
      return 0;
    } catch (error) {
      const isConflict = error instanceof RunError && error.code === 'RESOURCE_CONFLICT';
      if (!isConflict || asked !== null || tries === MOST_TRIES) throw error;
    }
  }
}

async function bodyOf(
  { patch: given, 'patch-file': path, type }: FlagValues<typeof patchFlags>['values'],
  io: CliIo,
): Promise<string> {
  if (given !== null && path !== null) {
    throw conflictingFlags('--patch', 'is given together with --patch-file', 'keep one of them');
  }
  if (given === null && path === null) throw missingFlag('--patch', 'is required', 'give one as in \'{"spec":{}}\'');
  const place = given === null ? '--patch-file' : '--patch';
  const text = given ?? (await readFiles([path!], io)).text;
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    throw badValue(place, text, 'is not JSON or YAML', 'a map of fields, or a list of operations');
  }
  if (typeof value !== 'object' || value === null) {
    throw badValue(place, text, 'is not a patch', 'a map of fields, or a list of operations');
  }
  const form = Array.isArray(value) ? 'json' : 'merge';
  if (type !== null && type !== form) {
    const problem = form === 'json' ? 'is a list of operations' : 'is a map of fields';
    throw conflictingFlags('--type', `is ${type}, and the patch ${problem}`, `give --type ${form}, or leave it out`);
  }
  return JSON.stringify(value);
}
