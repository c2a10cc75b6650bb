import type { CliIo } from './io.js';

/** Runs with the arguments behind the command's name and returns the exit code. */
export type CommandAction = (argv: readonly string[], io: CliIo) => Promise<number>;

export interface CommandEntry {
  name: string;
  summary: string;
  /** Commands are loaded when they are called: none pays for another's imports. */
  load: () => Promise<CommandAction>;
}

/** Every command there is: a new one is a file and a line here. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'run',
    summary: 'simulate a cluster under generated requests',
    load: async () => (await import('./run.js')).run,
  },
  {
    name: 'replay',
    summary: 'simulate a cluster under the requests of a trace',
    load: async () => (await import('./replay.js')).replay,
  },
  { name: 'version', summary: 'print the version', load: async () => (await import('./version.js')).version },
];

/** The summary a command's own help starts with. */
export function summaryOf(name: string): string {
  return COMMANDS.find((command) => command.name === name)!.summary;
}
