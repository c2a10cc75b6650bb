import { type ContextFile, contextNamed, contextPath, readContexts } from '../api/context-file.js';
import { contextSummaryOf } from '../context.js';
import { missingOperand } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { choiceFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';

const showFlags = {
  output: { ...choiceFlag({ default: 'text', known: ['text', 'json'], help: 'output format' }), letter: 'o' },
};

export const CONTEXT_SHOW: CommandLine = {
  name: 'context show',
  summary: contextSummaryOf('show'),
  about: 'The current context unless one is named. The token is not printed, only whether there is one.',
  operands: { usage: '[NAME]', least: 0, most: 1 },
  groups: [{ title: 'Output', flags: showFlags }],
  examples: ['context show', 'context show prod -o json'],
};

/** A context for output: whether it has a token, never the token. */
export function shownContext(file: ContextFile, name: string) {
  const { server = null, token, workspace = null } = contextNamed(file, name, 'NAME');
  return { name, current: file.current === name, server, workspace, token: token !== undefined };
}

/** Prints one context. */
export async function showContext(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof showFlags>(CONTEXT_SHOW, argv);
  const file = readContexts(io.env);
  const name = operands[0] ?? file.current;
  if (name === null) throw missingOperand('context show', 'NAME');
  const shown = shownContext(file, name);
  if (values.output === 'json') {
    io.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
    return 0;
  }
  const rows = [
    ['name', name],
    ['current', shown.current ? 'yes' : 'no'],
    ['server', shown.server ?? 'the gateway of the data folder'],
    ['workspace', shown.workspace ?? 'default'],
    ['token', shown.token ? 'stored' : 'none'],
    ['file', contextPath(io.env) ?? ''],
  ];
  for (const [key, value] of rows) io.stdout.write(`${`${key}:`.padEnd(11)}${value}\n`);
  return 0;
}
