import { InvalidResources } from '../../control/resources/errors.js';
import type { Resource } from '../../control/resources/resource.js';
import { InputError } from '../../kernel/errors.js';
import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import { conflictingFlags, missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { calledKind, resourceAt } from './targets/called-resource.js';
import { type CombinedFiles, fileFlags, readFiles } from './targets/read-files.js';
import { conditionAfter } from './targets/wait-condition.js';
import { timeoutFlags, waitFor } from './targets/wait-for.js';

const applyFlags = {
  ...fileFlags,
  'dry-run': toggle({ help: 'print the changes without making them' }),
  wait: toggle({ help: 'wait until the applied resources are ready, or one has failed' }),
  ...timeoutFlags,
  workspace: { ...workspaceFlags.workspace, help: 'workspace of resources that name none' },
};

export const APPLY: CommandLine = {
  name: 'apply',
  summary: summaryOf('apply'),
  about:
    'All documents are checked first and stored together, or none is. An applied endpoint starts its replicas in the background: ' +
    "'--wait' waits for them, and '--dry-run' prints the changes without making them.",
  groups: [
    { title: 'Resources', flags: applyFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: [
    'apply -f examples/endpoints/emulated.yaml',
    'apply -f examples/endpoints/emulated.yaml --dry-run',
    'apply -f examples/endpoints/emulated.yaml --wait --timeout 2m',
    'apply -f examples/endpoints -n default',
  ],
};

/** The response of the server. */
interface Applied {
  readonly text: string;
  readonly items: readonly { readonly resource: Resource }[];
}

/** Applies all resources of some files, or none, and prints the changes. */
export async function apply(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof applyFlags & typeof serverFlags>(APPLY, argv);
  if (values.file.length === 0) throw missingFlag('--file', 'is required', 'give a file, a folder, or - for stdin');
  if (values.wait && values['dry-run']) {
    throw conflictingFlags('--wait', 'is given together with --dry-run', 'keep one of them');
  }
  const client = ApiClient.of(values, io);
  const files = await readFiles(values.file, io);
  const query = { dry_run: String(values['dry-run']), workspace: workspaceFor(values, io) };
  let applied: Applied;
  try {
    applied = await client.call<Applied>('POST', '/api/v1/apply', { query, body: files.text });
    io.stdout.write(applied.text);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return refused(error, files, io);
  }
  if (values['dry-run']) io.stderr.write('twinyard: nothing was changed\n');
  if (values.wait) await waitForAll(client, applied, values.timeout, io);
  return 0;
}

/** Waits for one after the other, within one timeout for all. */
async function waitForAll(client: ApiClient, { items }: Applied, timeoutMs: number, io: CliIo): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (const { resource } of items) {
    const kind = await calledKind(resource.kind);
    const condition = conditionAfter(kind);
    if (condition === null) continue;
    const called = resourceAt(kind, resource.metadata.name, resource.metadata.workspace ?? '');
    await waitFor(client, called, condition, Math.max(0, end - Date.now()));
    io.stdout.write(`${called.shown} is ${condition.shown}\n`);
  }
}

/** Prints one problem per line. */
function refused(error: InputError, files: CombinedFiles, io: CliIo): number {
  const problems = error instanceof InvalidResources ? error.problems : [error];
  for (const { place, problem, hint } of problems) {
    const line = `${files.placeIn(place)}: ${problem}; ${hint}`;
    io.stderr.write(`twinyard: ${line.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')}\n`);
  }
  return 2;
}
