import { Command, Option } from 'commander';
import type { Flag, FlagGroup } from './flag.js';

/** A command as its help shows it. */
export interface CommandLine {
  name: string;
  summary: string;
  /** What else has to be known before its flags are. */
  about?: string;
  /** What stands without a flag, such as a file: how usage shows it, and how many there must be. */
  operands?: Operands;
  groups: readonly FlagGroup[];
  /** Command lines that work as they stand, without the program's name. */
  examples: readonly string[];
}

export interface Operands {
  usage: string;
  least: number;
  most: number;
}

/** Wide enough that every flag fits on one line, and the same on every terminal. */
const HELP_WIDTH = 250;

/** The flags of all groups in one table. */
export function flagsOf(line: CommandLine): Record<string, Flag<unknown>> {
  return Object.assign({}, ...line.groups.map((group) => group.flags));
}

/** The commander command for a flag table. Values stay texts: our own readers check them. */
export function commanderCommand(line: CommandLine): Command {
  const command = new Command(`twinyard ${line.name}`)
    .usage(line.operands === undefined ? '[flags]' : `${line.operands.usage} [flags]`)
    .description(line.about === undefined ? line.summary : `${line.summary}\n\n${line.about}`)
    .addHelpOption(new Option('-h, --help', 'print this text').helpGroup('Output:'))
    .exitOverride()
    .configureOutput({ getOutHelpWidth: () => HELP_WIDTH, writeErr: () => {} });
  for (const { title, flags } of line.groups) {
    for (const [name, flag] of Object.entries(flags)) {
      const letter = flag.letter === undefined ? '' : `-${flag.letter}, `;
      command.addOption(option(`${letter}--${name}`, flag).helpGroup(`${title}:`));
      for (const alias of flag.aliases) command.addOption(option(`--${alias}`, flag).hideHelp());
    }
  }
  return command;
}

/** The help text of a command, with the names that registries own filled in. */
export async function helpText(line: CommandLine): Promise<string> {
  const groups = await Promise.all(line.groups.map(withRegisteredNames));
  const examples = line.examples.map((example) => `  twinyard ${example}\n`).join('');
  return `${commanderCommand({ ...line, groups }).helpInformation()}\nExamples:\n${examples}`;
}

/** The same flags with the names that their registries know added to their help. */
export async function withRegisteredNames(group: FlagGroup): Promise<FlagGroup> {
  const flags: Record<string, Flag<unknown>> = {};
  for (const [name, flag] of Object.entries(group.flags)) {
    flags[name] =
      flag.names === undefined ? flag : { ...flag, help: `${flag.help}: ${(await flag.names()).join(', ')}` };
  }
  return { title: group.title, flags };
}

function option(spelling: string, flag: Flag<unknown>): Option {
  const value = flag.placeholder === '' ? '' : ` <${flag.placeholder}>`;
  return new Option(`${spelling}${value}`, describe(flag));
}

function describe(flag: Flag<unknown>): string {
  const aliases = flag.aliases.length === 0 ? '' : `; also --${flag.aliases.join(', --')}`;
  const standard = flag.defaultText === '' ? '' : ` (default: ${flag.defaultText})`;
  return `${flag.help}${aliases}${standard}`;
}
