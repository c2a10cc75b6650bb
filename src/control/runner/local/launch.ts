import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readProblem } from '../../../files/file-problem.js';
import { notStarted } from '../errors.js';
import { currentBootId, identityOf, type ProcessIdentity } from './process-table.js';

export interface Launch {
  readonly id: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingFolder: string;
  readonly logPath: string;
  readonly memoryBytes: number | null;
}

/** A process that has been made and waits for the word to become the engine. */
export interface LaunchedProcess {
  readonly child: ChildProcess;
  readonly identity: ProcessIdentity;
  /** The word. */
  go(): void;
  /** It ends instead. */
  drop(): void;
}

/**
 * Waits for a line, limits its memory, becomes the engine. If whoever made it dies before it has given the word, there is no line
 * but the end of the pipe, and it ends: an engine runs only after its process has been written down.
 */
const LAUNCHER = `
read -r _ || exit 125
[ "$1" = - ] || ulimit -d "$1" || exit 125
shift
exec "$@" </dev/null
`;

/** Makes the process of a replica, the leader of a session and a group of its own; all it says goes to its log. */
export async function launch(options: Launch): Promise<LaunchedProcess> {
  const { args, env, id, logPath, memoryBytes, program, workingFolder } = options;
  const kibibytes = memoryBytes === null ? '-' : String(Math.floor(memoryBytes / 1024));
  let child: ChildProcess;
  const log = openSync(logPath, 'a', 0o600);
  try {
    child = spawn('/bin/sh', ['-c', LAUNCHER, 'sh', kibibytes, program, ...args], {
      cwd: workingFolder,
      env,
      detached: true,
      stdio: ['pipe', log, log],
    });
    await once(child, 'spawn');
  } catch (error) {
    throw notStarted(id, readProblem(error));
  } finally {
    closeSync(log);
  }
  const word = child.stdin!;
  // If it is gone before it is given the word, its exit says so.
  word.on('error', () => {});
  // One that is gone already is nobody whom anybody could find.
  const identity = identityOf(child.pid!) ?? { pid: child.pid!, startTicks: -1, bootId: currentBootId() };
  return { child, identity, go: () => word.end('\n'), drop: () => word.destroy() };
}
