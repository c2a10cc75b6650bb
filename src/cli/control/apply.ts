import { InvalidResources } from '../../control/resources/errors.js';
import type { Resource } from '../../control/resources/resource.js';
import { InputError } from '../../kernel/errors.js';
import { ApiClient } from '../api/api-client.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import { conflictingFlags, missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { calledKind, resourceAt } from './targets/called-resource.js';
import { type CombinedFiles, fileFlags, readFiles } from './targets/read-files.js';
import { wishAfter } from './targets/wait-condition.js';
import { timeoutFlags, waitFor } from './targets/wait-for.js';

const applyFlags = {
  ...fileFlags,
  'dry-run': toggle({ help: 'only tell what would be done' }),
  wait: toggle({ help: 'until what was applied is ready, or has failed' }),
  ...timeoutFlags,
  workspace: { ...workspaceFlags.workspace, help: 'of resources that name none' },
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
    'apply -f examples/endpoints -w default',
  ],
};

/** What the server says it has done. */
interface Applied {
  readonly text: string;
  readonly items: readonly { readonly resource: Resource }[];
}

/** Makes all resources of some files so, or none; prints what was done, or would be, and what differs. */
export async function apply(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof applyFlags & typeof serverFlags>(APPLY, argv);
  if (values.file.length === 0) throw missingFlag('--file', 'is required', 'say what to apply: a file, a folder, or -');
  if (values.wait && values['dry-run']) {
    throw conflictingFlags('--wait', 'is given together with --dry-run', 'keep one of them');
  }
  const client = ApiClient.of(values, io);
  const files = await readFiles(values.file, io);
  const query = { dry_run: String(values['dry-run']), workspace: values.workspace };
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

/** One after the other, all within the same time. */
async function waitForAll(client: ApiClient, { items }: Applied, timeoutMs: number, io: CliIo): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (const { resource } of items) {
    const kind = await calledKind(resource.kind);
    const condition = wishAfter(kind);
    if (condition === null) continue;
    const called = resourceAt(kind, resource.metadata.name, resource.metadata.workspace ?? '');
    await waitFor(client, called, condition, Math.max(0, end - Date.now()));
    io.stdout.write(`${called.shown} is ${condition.shown}\n`);
  }
}

/** Everything that is wrong, a line each, so that it can be put right at once. */
function refused(error: InputError, files: CombinedFiles, io: CliIo): number {
  const problems = error instanceof InvalidResources ? error.problems : [error];
  for (const { place, problem, hint } of problems) {
    const line = `${files.placeIn(place)}: ${problem}; ${hint}`;
    io.stderr.write(`twinyard: ${line.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')}\n`);
  }
  return 2;
}
