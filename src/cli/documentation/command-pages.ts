import { COMMAND_LINES } from '../command-lines.js';
import { COMMANDS } from '../commands.js';
import { COMPARE } from '../compare/compare.js';
import { ownCompareGroups } from '../compare/compare-flags.js';
import { COMMAND_GROUPS, type CommandEntry, type CommandLine } from '../flags/command-line.js';
import type { Flag, FlagGroup } from '../flags/flag.js';
import { DEFAULT_WIDTH, exampleText, flagTerm, sentence, withRegisteredNames } from '../help/help-text.js';
import { PLAN } from '../plan/plan.js';
import { ownPlanGroups } from '../plan/plan-flags.js';
import { SWEEP } from '../sweep/sweep.js';
import { ownSweepGroups } from '../sweep/sweep-flags.js';
import { ownValidateGroups, VALIDATE } from '../validate/validate.js';
import { code, madeFrom, markdownTable, plain } from './markdown.js';

/** Kinds whose values follow from the meaning and the placeholder. */
const SELF_EXPLAINING: readonly Flag<unknown>['kind'][] = ['choice', 'switch', 'text', 'file'];

/** Commands that take the flags of others: their page lists only their own flags and links to the others. */
const BORROWED = new Map<CommandLine, { groups: CommandLine['groups']; note: string }>([
  [
    COMPARE,
    {
      groups: ownCompareGroups,
      note: 'It also takes the flags of [`run`](run.md) and [`replay`](replay.md) that describe the cluster, the instance and the workload.',
    },
  ],
  [
    PLAN,
    {
      groups: ownPlanGroups,
      note: 'It also takes the flags of [`run`](run.md) and [`replay`](replay.md) that describe the cluster, the instance and the workload, unless they say how long to run or let clients wait for responses.',
    },
  ],
  [
    SWEEP,
    {
      groups: ownSweepGroups,
      note: 'It also takes the flags of [`run`](run.md) and [`replay`](replay.md) that describe the cluster, the instance and the workload.',
    },
  ],
  [
    VALIDATE,
    {
      groups: ownValidateGroups,
      note: 'It also takes the flags of [`observe`](observe.md), those of [`replay`](replay.md) that describe the cluster and the instance, and the network and tolerance flags of [`calibrate`](calibrate.md).',
    },
  ],
]);

/** A page per command, by file name, and an index; from the tables by which the program itself reads its arguments. */
export async function commandPages(): Promise<Map<string, string>> {
  const pages = new Map([['README.md', indexPage()]]);
  for (const command of COMMANDS) pages.set(`${command.name}.md`, await commandPage(command));
  return pages;
}

function indexPage(): string {
  const groups = COMMAND_GROUPS.map((group) => {
    const rows = COMMANDS.filter((command) => command.group === group).map(({ name, summary }) => [
      `[${code(`twinyard ${name}`)}](${name}.md)`,
      plain(summary),
    ]);
    return `## ${group}\n\n${markdownTable([['command', 'what it does'], ...rows])}`;
  });
  return `${madeFrom('src/cli')}
# Commands

\`twinyard\` lists the commands and \`twinyard run --help\` prints the content of a command's page.
[\`twinyard completion\`](completion.md) prints a completion script for bash, zsh and fish.

${groups.join('\n')}
## All commands

- The result goes to stdout and nothing else does: by default one JSON document (see [results](../results.md)), with
  \`--format table\` text for people. Warnings, progress and errors go to stderr.
- The exit code is 0 on success, 2 for wrong input and 1 when the work failed. An error is one line: where, what is wrong,
  and what to do.
- A flag takes its value after a space or an equals sign. A flag given twice with different values is refused, and so is one
  that contradicts another: no flag is ignored.
- Times are whole microseconds unless the name of the flag or the table says otherwise.
- Help and tables are as wide as the terminal, or 80 columns where there is none; \`COLUMNS\` sets another width. Tables that are
  too wide continue below, and \`get -o wide\` prints one line per resource. Colours appear on terminals only: \`NO_COLOR\` switches them off, \`FORCE_COLOR\` on.
`;
}

async function commandPage({ name, summary }: CommandEntry): Promise<string> {
  const lines = COMMAND_LINES.filter((line) => line.name.split(' ')[0] === name);
  const isFamily = lines[0]!.name !== name;
  const body = await Promise.all(lines.map((line) => section(line, isFamily)));
  const intro = isFamily ? `${plain(sentence(summary))}\n\n` : '';
  return `${madeFrom('src/cli')}
# twinyard ${name}

${intro}${body.join('\n')}
[All commands](README.md)
`;
}

/** @param isPart one of several commands on the same page */
async function section(line: CommandLine, isPart: boolean): Promise<string> {
  const { groups, note } = BORROWED.get(line) ?? { groups: line.groups, note: '' };
  const operands = line.operands === undefined ? '' : ` ${line.operands.usage}`;
  const heading = isPart ? '###' : '##';
  const parts = [
    ...(isPart ? [`## ${line.name}\n`] : []),
    `${plain(sentence(line.summary))} ${plain(line.about)}\n`,
    `\`\`\`sh\ntwinyard ${line.name}${operands} [flags]\n\`\`\`\n`,
    ...(note === '' ? [] : [`${note}\n`]),
    ...(await Promise.all(
      groups.filter(({ flags }) => Object.keys(flags).length > 0).map((group) => flagSection(group, heading)),
    )),
    ...((await line.more?.()) ?? []).map(({ rows, title }) => {
      return `${heading} ${title}\n\n${markdownTable([['name', 'meaning'], ...rows.map(([term, text]) => [code(term), plain(text)])])}`;
    }),
    `${heading} Examples\n\n\`\`\`sh\n${line.examples.map((example) => exampleText(example, DEFAULT_WIDTH).replace(/^ {2}/gm, '')).join('')}\`\`\`\n`,
  ];
  return parts.join('\n');
}

async function flagSection(group: FlagGroup, heading: string): Promise<string> {
  const { flags } = await withRegisteredNames(group);
  const rows = Object.entries(flags).map(([name, flag]) => [
    code(flagTerm(name, flag)),
    flag.defaultText === '' ? '' : code(flag.defaultText),
    meaning(flag),
  ]);
  return `${heading} ${group.title}\n\n${markdownTable([['flag', 'default', 'meaning'], ...rows])}`;
}

function meaning({ accepted, aliases, help, kind }: Flag<unknown>): string {
  const values = SELF_EXPLAINING.includes(kind) ? '' : ` (${plain(accepted)})`;
  return plain(help) + values + aliases.map((alias) => `; also ${code(`--${alias}`)}`).join('');
}
