import { InvalidResources } from '../../control/resources/errors.js';
import { InputError } from '../../kernel/errors.js';
import { summaryOf } from '../commands.js';
import { missingFlag } from '../errors.js';
import { type CommandLine, helpText } from '../flags/command-line.js';
import { toggle } from '../flags/kinds.js';
import { asksForHelp, parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { ControlClient } from './control-client.js';
import { findServer } from './find-server.js';
import { type CombinedFiles, fileFlags, readFiles } from './read-files.js';
import { serverFlags, workspaceFlags } from './server-flags.js';

const applyFlags = {
  ...fileFlags,
  'dry-run': toggle({ help: 'only tell what would be done' }),
  workspace: { ...workspaceFlags.workspace, help: 'of resources that name none' },
};

export const APPLY: CommandLine = {
  name: 'apply',
  summary: summaryOf('apply'),
  groups: [
    { title: 'Resources', flags: applyFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: [
    'apply -f examples/endpoints/emulated.yaml',
    'apply -f examples/endpoints/emulated.yaml --dry-run',
    'apply -f examples/endpoints -w default',
  ],
};

/** Makes all resources of some files so, or none; prints what was done, or would be, and what differs. */
export async function apply(argv: readonly string[], io: CliIo): Promise<number> {
  if (asksForHelp(argv)) {
    io.stdout.write(await helpText(APPLY));
    return 0;
  }
  const { values } = await parseFlags<typeof applyFlags & typeof serverFlags>(APPLY, argv);
  if (values.file.length === 0) throw missingFlag('--file', 'is required', 'say what to apply: a file, a folder, or -');
  const client = new ControlClient(findServer(values, io));
  const files = await readFiles(values.file, io);
  const query = { dry_run: String(values['dry-run']), workspace: values.workspace };
  try {
    const { text } = await client.ask<{ text: string }>('POST', '/api/v1/apply', { query, body: files.text });
    io.stdout.write(text);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return refused(error, files, io);
  }
  if (values['dry-run']) io.stderr.write('twinyard: nothing was changed\n');
  return 0;
}

/** Everything that is wrong, a line each, so that it can be put right at once. */
function refused(error: InputError, files: CombinedFiles, io: CliIo): number {
  const problems = error instanceof InvalidResources ? error.problems : [error];
  for (const { place, problem, remedy } of problems) {
    const line = `${files.placeIn(place)}: ${problem}; ${remedy}`;
    io.stderr.write(`twinyard: ${line.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')}\n`);
  }
  return 2;
}
