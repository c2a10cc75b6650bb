import { contextNamed, readContexts, writeContexts } from '../api/context-file.js';
import { contextSummaryOf } from '../context.js';
import { conflictingFlags, missingOperand } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';

const useFlags = { none: toggle({ help: 'use no context: the gateway of the data folder, workspace default' }) };

export const CONTEXT_USE: CommandLine = {
  name: 'context use',
  summary: contextSummaryOf('use'),
  about: "Flags, '--context' and the environment (TWINYARD_SERVER, TWINYARD_CONTEXT) still decide for one command.",
  operands: { usage: '[NAME]', least: 0, most: 1 },
  groups: [{ title: 'Context', flags: useFlags }],
  examples: ['context use prod', 'context use --none'],
};

/** Makes a context the current one. */
export async function useContext(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof useFlags>(CONTEXT_USE, argv);
  const name = operands[0] ?? null;
  if (name === null && !values.none) throw missingOperand('context use', 'NAME');
  if (name !== null && values.none)
    throw conflictingFlags('--none', 'is given together with a name', 'keep one of them');
  const file = readContexts(io.env);
  if (name !== null) contextNamed(file, name, 'NAME');
  writeContexts(io.env, { ...file, current: name });
  io.stdout.write(name === null ? 'no context is used\n' : `context ${name} is used\n`);
  return 0;
}
