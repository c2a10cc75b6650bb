import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readProblem } from '../../../../files/file-problem.js';
import type { ReplicaUser } from '../../contract.js';
import { notStarted } from '../../errors.js';
import { currentBootId, identityOf, type ProcessIdentity } from './process-table.js';

export interface LaunchOptions {
  readonly id: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingFolder: string;
  readonly logPath: string;
  readonly memoryBytes: number | null;
  /** Null: the user of this process. */
  readonly user: ReplicaUser | null;
}

/** A process that has been created and waits before it becomes the engine. */
export interface LaunchedProcess {
  readonly child: ChildProcess;
  readonly identity: ProcessIdentity;
  /** Lets it become the engine. */
  release(): void;
  /** Ends it instead. */
  abandon(): void;
}

/**
 * Waits for a line, limits its memory, becomes the engine. If the control plane dies first, the pipe ends without a line and so
 * does the process: an engine runs only after its process has been recorded.
 */
const LAUNCHER = `
read -r _ || exit 125
[ "$1" = - ] || ulimit -d "$1" || exit 125
shift
exec "$@" </dev/null
`;

/** Creates the process of a replica, the leader of its own session and group, with its output in its log. */
export async function launch(options: LaunchOptions): Promise<LaunchedProcess> {
  const { args, env, id, logPath, memoryBytes, program, user, workingFolder } = options;
  const kibibytes = memoryBytes === null ? '-' : String(Math.floor(memoryBytes / 1024));
  let child: ChildProcess;
  const log = openSync(logPath, 'a', 0o600);
  try {
    child = spawn('/bin/sh', ['-c', LAUNCHER, 'sh', kibibytes, program, ...args], {
      cwd: workingFolder,
      env,
      detached: true,
      stdio: ['pipe', log, log],
      // Other groups of the control plane's user are dropped with it.
      ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
    });
    await once(child, 'spawn');
  } catch (error) {
    throw notStarted(id, readProblem(error));
  } finally {
    closeSync(log);
  }
  const gate = child.stdin!;
  // If the process has ended already, its exit reports it.
  gate.on('error', () => {});
  // A process that has ended already gets an identity that matches nothing.
  const identity = identityOf(child.pid!) ?? { pid: child.pid!, startTicks: -1, bootId: currentBootId() };
  return { child, identity, release: () => gate.end('\n'), abandon: () => gate.destroy() };
}
