import { createStyle } from '../../report/text/style.js';
import { readContexts } from '../api/context-file.js';
import { contextSummaryOf } from '../context.js';
import type { CommandLine } from '../flags/command-line.js';
import { choiceFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, listPresentation } from '../io.js';
import { shownContext } from './show.js';

const listFlags = {
  output: { ...choiceFlag({ default: 'table', known: ['table', 'json', 'name'], help: 'output format' }), letter: 'o' },
};

export const CONTEXT_LIST: CommandLine = {
  name: 'context list',
  summary: contextSummaryOf('list'),
  about: 'A star marks the current one. Tokens are not printed, only whether there is one.',
  groups: [{ title: 'Output', flags: listFlags }],
  examples: ['context list', 'context list -o name'],
};

/** Lists contexts by name. */
export async function listContexts(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof listFlags>(CONTEXT_LIST, argv);
  const file = readContexts(io.env);
  const all = Object.keys(file.contexts)
    .sort()
    .map((name) => shownContext(file, name));
  if (values.output === 'json') io.stdout.write(`${JSON.stringify(all, null, 2)}\n`);
  else if (values.output === 'name') io.stdout.write(all.map(({ name }) => `${name}\n`).join(''));
  else if (all.length === 0) io.stderr.write("twinyard: no contexts; create one with 'twinyard context set'\n");
  else {
    const rows = all.map(({ current, name, server, token, workspace }) => [
      ...[current ? '*' : '', name, server ?? '', workspace ?? '', token ? 'yes' : 'no'],
    ]);
    const titles = ['CURRENT', 'NAME', 'SERVER', 'WORKSPACE', 'TOKEN'];
    const lines = createStyle(listPresentation(io)).table(
      [titles, ...rows],
      titles.map(() => 'left' as const),
      2,
    );
    for (const line of lines) io.stdout.write(`${line}\n`);
  }
  return 0;
}
