import { Command, Option } from 'commander';
import type { CliIo } from '../io.js';
import type { Flag, FlagGroup } from './flag.js';

/** Runs with the arguments after the command's name and returns the exit code. */
export type CommandAction = (argv: readonly string[], io: CliIo) => Promise<number>;

/** The jobs that commands are for, as help and documentation list them. */
export const COMMAND_GROUPS = ['Simulate', 'Serve', 'Operate', 'Traces and calibration', 'Other'] as const;

export interface CommandEntry {
  name: string;
  group: (typeof COMMAND_GROUPS)[number];
  /** Imperative, without a capital and a full stop. */
  summary: string;
  /** Commands are loaded when they are called, so that none loads the imports of another. */
  load: () => Promise<CommandAction>;
}

/** A command as data: the source of its help, its checks and its documentation. */
export interface CommandLine {
  name: string;
  summary: string;
  /** Its purpose, in a sentence or two. */
  about: string;
  /** Arguments without a flag, such as a file: how usage shows them, and how many there must be. */
  operands?: Operands;
  groups: readonly FlagGroup[];
  /** Further lists below the flags, such as kinds of resources. */
  more?: () => Promise<readonly HelpList[]>;
  /** Command lines that work as they stand, without the program's name. */
  examples: readonly string[];
}

export interface HelpList {
  title: string;
  /** A term and its meaning. */
  rows: readonly (readonly [string, string])[];
}

export interface Operands {
  usage: string;
  least: number;
  most: number;
}

/** The flags of all groups in one table. */
export function flagsOf(line: CommandLine): Record<string, Flag<unknown>> {
  return Object.assign({}, ...line.groups.map((group) => group.flags));
}

/** The commander command for a flag table. Values stay texts: flags read and check them. */
export function commanderCommand(line: CommandLine): Command {
  const command = new Command(`twinyard ${line.name}`)
    .helpOption(false)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  for (const [name, flag] of Object.entries(flagsOf(line))) {
    const letter = flag.letter === undefined ? '' : `-${flag.letter}, `;
    command.addOption(option(`${letter}--${name}`, flag));
    for (const alias of flag.aliases) command.addOption(option(`--${alias}`, flag));
  }
  return command;
}

function option(spelling: string, { placeholder }: Flag<unknown>): Option {
  return new Option(placeholder === '' ? spelling : `${spelling} <${placeholder}>`);
}
