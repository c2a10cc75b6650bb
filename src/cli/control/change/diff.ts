import { InvalidResources } from '../../../control/resources/errors.js';
import { InputError, RunError } from '../../../kernel/errors.js';
import { ApiClient } from '../../api/api-client.js';
import { workspaceFor } from '../../api/find-server.js';
import { serverFlags, workspaceFlags } from '../../api/server-flags.js';
import { summaryOf } from '../../commands.js';
import { missingFlag } from '../../errors.js';
import type { CommandLine } from '../../flags/command-line.js';
import { parseFlags } from '../../flags/parse-flags.js';
import type { CliIo } from '../../io.js';
import { fileFlags, readFiles } from '../targets/read-files.js';

const diffFlags = {
  ...fileFlags,
  workspace: { ...workspaceFlags.workspace, help: 'workspace of resources that name none' },
};

export const DIFF: CommandLine = {
  name: 'diff',
  summary: summaryOf('diff'),
  about:
    'Use it in scripts and reviews: it ends with 0 when nothing would change, with 1 when something would, and with 2 when it could ' +
    'not compare. Secrets are not printed.',
  groups: [
    { title: 'Resources', flags: diffFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['diff -f examples/endpoints/emulated.yaml', 'diff -f examples/endpoints -n default'],
};

interface Planned {
  readonly text: string;
  readonly items: readonly { readonly action: string }[];
}

/** Prints the changes that apply would make, and no others. */
export async function diff(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof diffFlags & typeof serverFlags>(DIFF, argv);
  if (values.file.length === 0) throw missingFlag('--file', 'is required', 'give a file, a folder, or - for stdin');
  const files = await readFiles(values.file, io);
  const query = { dry_run: 'true', workspace: workspaceFor(values, io) };
  try {
    const { items, text } = await ApiClient.of(values, io).call<Planned>('POST', '/api/v1/apply', {
      query,
      body: files.text,
    });
    // A resource and its differences: lines of differences are indented.
    const parts = text.split(/^(?=\S)/m).filter((part) => !/ would be unchanged\n/.test(part));
    io.stdout.write(parts.join(''));
    return items.some(({ action }) => action !== 'unchanged') ? 1 : 0;
  } catch (error) {
    if (!(error instanceof InputError || error instanceof RunError)) throw error;
    // 1 would mean that there are differences.
    const problems = error instanceof InvalidResources ? error.problems : [error];
    for (const one of problems) {
      const line = one instanceof InputError ? `${files.placeIn(one.place)}: ${one.problem}; ${one.hint}` : one.message;
      io.stderr.write(`twinyard: ${line.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')}\n`);
    }
    return 2;
  }
}
