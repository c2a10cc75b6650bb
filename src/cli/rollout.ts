import type { CliIo } from './io.js';
import { runSubcommand, type Subcommand } from './subcommands.js';

/** Every subcommand: a new one is a file and an entry here. */
export const ROLLOUT_COMMANDS: readonly Subcommand[] = [
  {
    name: 'status',
    summary: 'wait until the replicas of an endpoint have its present spec and are ready',
    load: async () => (await import('./rollout/status.js')).rolloutStatus,
  },
  {
    name: 'history',
    summary: 'list the revisions of a resource that are kept',
    load: async () => (await import('./rollout/history.js')).rolloutHistory,
  },
  {
    name: 'undo',
    summary: 'restore an earlier revision of a resource',
    load: async () => (await import('./rollout/undo.js')).rolloutUndo,
  },
];

export async function rollout(argv: readonly string[], io: CliIo): Promise<number> {
  return runSubcommand('rollout', 'KIND/NAME [flags]', ROLLOUT_COMMANDS, argv, io);
}

/** The summary that the help of a subcommand starts with. */
export function rolloutSummaryOf(name: string): string {
  return ROLLOUT_COMMANDS.find((command) => command.name === name)!.summary;
}
