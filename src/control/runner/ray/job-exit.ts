import type { RayJob } from '../../../ray/ray-job.js';
import type { ReplicaExit } from '../contract.js';
import type { ReplicaLines } from './replica-lines.js';
import type { RayReplicaRecord } from './replica-record.js';

/** Lines of the log that are kept with an exit. */
const LAST_LINES = 20;
const MOST_LENGTH = 2000;
const MOST_DETAIL = 300;
/** How long a job is usually pending. */
const PENDING_MS = 10_000;

export const NODE_LOST = 'node lost';

/**
 * How a replica ended. Ray gives the exit code of a job that ended by itself and none of one that was stopped: code and signal are
 * those that the replica's program has written last, where it could.
 */
export function exitOf(
  reason: ReplicaExit['reason'],
  job: RayJob | null,
  { engine, report }: ReplicaLines,
  { at, detail, scrub }: { at: number; detail: string | null; scrub: (line: string) => string },
): ReplicaExit {
  const known = report.code !== undefined || report.signal !== undefined;
  return {
    reason,
    code: known ? (report.code ?? null) : (job?.driver_exit_code ?? null),
    signal: known ? (report.signal ?? null) : null,
    detail: report.problem ?? detail,
    at,
    lastLines: engine.slice(-LAST_LINES).map(({ text }) => scrub(text).slice(0, MOST_LENGTH)),
  };
}

/** Why Ray ended a job, beyond code and signal; null where the engine ended by itself or was stopped by us. */
export function endDetail(job: RayJob, isOurs: boolean, isNodeLost: boolean): string | null {
  if (isNodeLost) return NODE_LOST;
  if (job.status === 'STOPPED') return isOurs ? null : 'its Ray job was stopped by another program';
  if (job.status !== 'FAILED' || job.error_type === 'JOB_ENTRYPOINT_COMMAND_ERROR') return null;
  if (job.error_type === 'JOB_SUPERVISOR_ACTOR_DIED') return isOurs ? null : 'its Ray supervisor died';
  return firstLine(job.message);
}

/** Why a job has not begun long after its start; null while it is early, and when it has. */
export function lateProblem({ message, status }: RayJob, { address, startedAt }: RayReplicaRecord): string | null {
  if (status !== 'PENDING' || Date.now() - startedAt <= PENDING_MS) return null;
  return `waits on node ${address}: ${firstLine(message)}`;
}

/** Messages of Ray go on with a traceback. */
function firstLine(message: string | null): string | null {
  const line = (message ?? '').split('\n').find((one) => one.trim() !== '');
  return line === undefined ? null : line.trim().slice(0, MOST_DETAIL);
}
