import { contextNamed, readContexts, writeContexts } from '../api/context-file.js';
import { contextSummaryOf } from '../context.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';

export const CONTEXT_DELETE: CommandLine = {
  name: 'context delete',
  summary: contextSummaryOf('delete'),
  about: 'The token stays valid on its server. After the current context is deleted, no context is used.',
  operands: { usage: 'NAME', least: 1, most: 1 },
  groups: [{ title: 'Context', flags: {} }],
  examples: ['context delete prod'],
};

/** Deletes a context. */
export async function deleteContext(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands } = await parseFlags(CONTEXT_DELETE, argv);
  const name = operands[0]!;
  const file = readContexts(io.env);
  contextNamed(file, name, 'NAME');
  const { [name]: _, ...contexts } = file.contexts;
  writeContexts(io.env, { current: file.current === name ? null : file.current, contexts });
  io.stdout.write(`context ${name} deleted\n`);
  return 0;
}
