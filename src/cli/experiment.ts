import type { CliIo } from './io.js';
import { runSubcommand, type Subcommand } from './subcommands.js';

/** Every subcommand: a new one is a file and an entry here. */
export const EXPERIMENT_COMMANDS: readonly Subcommand[] = [
  {
    name: 'status',
    summary: 'list the experiments and workers of a queue',
    load: async () => (await import('./experiment/status.js')).experimentStatus,
  },
  {
    name: 'fetch',
    summary: 'print the result of an experiment that was left on a queue',
    load: async () => (await import('./experiment/fetch.js')).experimentFetch,
  },
  {
    name: 'cancel',
    summary: 'remove an experiment from a queue',
    load: async () => (await import('./experiment/cancel.js')).experimentCancel,
  },
  {
    name: 'manifest',
    summary: 'print a Kubernetes Job or a Ray job that runs workers',
    load: async () => (await import('./experiment/manifest.js')).experimentManifest,
  },
];

export async function experiment(argv: readonly string[], io: CliIo): Promise<number> {
  return runSubcommand('experiment', '[flags]', EXPERIMENT_COMMANDS, argv, io);
}

/** The summary that the help of a subcommand starts with. */
export function experimentSummaryOf(name: string): string {
  return EXPERIMENT_COMMANDS.find((command) => command.name === name)!.summary;
}
