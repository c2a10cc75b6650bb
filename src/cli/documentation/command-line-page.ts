import { COMMANDS } from '../commands.js';
import { type CommandLine, withRegisteredNames } from '../flags/command-line.js';
import type { Flag, FlagGroup } from '../flags/flag.js';
import { REPLAY } from '../simulate/replay.js';
import { RUN } from '../simulate/run.js';
import { OTHER_COMMAND_LINES } from './command-lines.js';
import { code, madeFrom, markdownTable, plain } from './markdown.js';

/** Kinds whose values the meaning and the placeholder tell already. */
const SELF_EXPLAINING: readonly Flag<unknown>['kind'][] = ['choice', 'switch', 'text', 'file'];

/** Every command and every flag, from the tables that the program itself reads its arguments by. */
export async function commandLinePage(): Promise<string> {
  const commands = COMMANDS.map(({ name, summary }) => [code(`twinyard ${name}`), summary]);
  const sections = [
    ...RUN.groups.filter((group) => isIn(REPLAY, group)).map((group) => section(group.title, group)),
    ...onlyIn(RUN, REPLAY),
    ...onlyIn(REPLAY, RUN),
    ...OTHER_COMMAND_LINES.flatMap(({ groups, name }) => {
      return groups.map((group) => section(`${group.title} of ${name}`, group));
    }),
  ];
  return `${madeFrom('src/cli/flags')}
# The command line

${markdownTable([['command', 'what it does'], ...commands])}
\`twinyard --help\` lists the commands, \`twinyard run --help\` prints what is written here.

- The result goes to stdout and nothing else does: by default one JSON document (see [results](results.md)), with
  \`--format table\` a page for people. Warnings, progress and errors go to stderr.
- The exit code is 0 when all went well, 2 when the input was wrong and 1 when the work failed. A wrong input is
  answered by one line: where, what is wrong, and what to do about it.
- A flag takes its value behind a space or an equals sign. A flag given twice with different values is refused, and so
  is one that contradicts another: nothing that you give is ignored in silence.
- Times are whole microseconds unless the flag's name or the last column says otherwise.

Flags that \`run\` and \`replay\` share come first, then those that describe the workload of each, then those of
other commands.

${(await Promise.all(sections)).join('\n')}`;
}

function isIn(line: CommandLine, group: FlagGroup): boolean {
  return line.groups.some(({ flags }) => flags === group.flags);
}

function onlyIn(line: CommandLine, other: CommandLine): Promise<string>[] {
  const own = line.groups.filter((group) => !isIn(other, group));
  return own.map((group) => section(`${group.title} of ${line.name}`, group));
}

async function section(title: string, group: FlagGroup): Promise<string> {
  const { flags } = await withRegisteredNames(group);
  const rows = Object.entries(flags).map(([name, flag]) => [
    code(
      `${flag.letter === undefined ? '' : `-${flag.letter}, `}--${name}${flag.placeholder === '' ? '' : ` <${flag.placeholder}>`}`,
    ),
    flag.defaultText === '' ? '' : code(flag.defaultText),
    meaning(flag),
    SELF_EXPLAINING.includes(flag.kind) ? '' : plain(flag.accepted),
  ]);
  return `## ${title}\n\n${markdownTable([['flag', 'default', 'meaning', 'accepted'], ...rows])}`;
}

function meaning({ help, aliases }: Flag<unknown>): string {
  return plain(help) + aliases.map((alias) => `; also ${code(`--${alias}`)}`).join('');
}
