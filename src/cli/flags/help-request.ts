import type { CommandLine } from './command-line.js';

/** Thrown where `--help` stands among the arguments of a command: the program prints the help, and the command does nothing. */
export class HelpRequest extends Error {
  constructor(readonly line: CommandLine) {
    super(`help of ${line.name}`);
  }
}
