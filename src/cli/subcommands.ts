import { COMMANDS } from './commands.js';
import { noSubcommand, unknownCommand } from './errors.js';
import type { CommandAction } from './flags/command-line.js';
import { type CliIo, textWidth } from './io.js';

/** A part of a command with its own flags: a new one is a file and an entry in the command's table. */
export interface Subcommand {
  readonly name: string;
  /** Imperative, without a capital and a full stop. */
  readonly summary: string;
  /** Loaded when it is called. */
  readonly load: () => Promise<CommandAction>;
}

/** Runs the subcommand that the first argument names, or lists them. @param usage what follows a subcommand's name */
export async function runSubcommand(
  parent: string,
  usage: string,
  table: readonly Subcommand[],
  argv: readonly string[],
  io: CliIo,
): Promise<number> {
  const [name, ...rest] = argv;
  const known = table.map((entry) => `${parent} ${entry.name}`);
  if (name === undefined) throw noSubcommand(parent, known);
  if (name === '--help' || name === '-h') {
    const { subcommandsHelp } = await import('./help/overview.js');
    const entry = COMMANDS.find((command) => command.name === parent)!;
    io.stdout.write(subcommandsHelp(entry, usage, table, textWidth(io.stdout, io.env)));
    return 0;
  }
  const command = table.find((entry) => entry.name === name);
  if (command === undefined) throw unknownCommand(`${parent} ${name}`, known);
  return (await command.load())(rest, io);
}
