import { readProblem, writeProblem } from '../../files/file-problem.js';
import { InputError, RunError } from '../../kernel/errors.js';
import type { FreeResources, ReplicaResources } from './contract.js';

/** Errors of runners. Codes are stable and start with RUNNER_. */

export const REPLICA_ID = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export const badReplicaId = (id: string) =>
  new InputError(
    'RUNNER_REPLICA_ID',
    `replica '${id}'`,
    'is not a valid replica id',
    'use 1 to 63 of a-z, 0-9 and - (not at an end)',
  );

export const replicaNotFound = (id: string) =>
  new InputError('RUNNER_REPLICA_UNKNOWN', `replica '${id}'`, 'does not exist', 'it may have been stopped');

export const replicaExists = (id: string) =>
  new RunError('RUNNER_REPLICA_EXISTS', `replica '${id}': already exists; stop it first`);

export const badGpuNumber = (gpus: number) =>
  new InputError('RUNNER_GPUS', 'gpus', `${gpus} is not a number of GPUs`, 'give a share below 1, or a whole number');

export const missingCommand = (command: string, where: string) =>
  new InputError('RUNNER_COMMAND', `command '${command}'`, `is not a program ${where}`, 'install it, or give its path');

export const noFreePort = () => new RunError('RUNNER_NO_PORT', 'no port is free for another replica');

export const notStarted = (id: string, problem: string) =>
  new RunError('RUNNER_NOT_STARTED', `replica '${id}': cannot be started (${problem})`);

export const willNotEnd = (id: string) =>
  new RunError(
    'RUNNER_WILL_NOT_END',
    `replica '${id}': a process is still running after SIGKILL; it may hang in a driver`,
  );

export const folderInUse = (folder: string) =>
  new RunError('RUNNER_IN_USE', `${folder}: in use by another control plane`);

export const badRunnerFolder = (folder: string, problem: string) =>
  new InputError(
    'RUNNER_FOLDER',
    folder,
    `cannot hold replicas (${problem})`,
    'give a folder on a local disk that the control plane may write to',
  );

export const badReplicaUser = (place: string, problem: string, hint: string) =>
  new InputError('RUNNER_USER', place, problem, hint);

export const unreachableForReplicas = (user: string, folder: string) =>
  new InputError(
    'RUNNER_USER',
    folder,
    `closed to the replica user '${user}'`,
    'keep the data folder elsewhere, such as below /var/lib (--data-dir)',
  );

export const replicaUserReads = (user: string, path: string) =>
  new InputError('RUNNER_USER', path, `can be read by the replica user '${user}'`, `chmod 600 '${path}'`);

export const clusterNotOpen = (cluster: string) =>
  new RunError('RUNNER_CLUSTER_NOT_OPEN', `cluster '${cluster}': is not connected; see its status`);

export const oneCluster = (cluster: string, type: string, only: string) =>
  new InputError(
    'RUNNER_CLUSTER',
    `cluster '${cluster}'`,
    `type '${type}' has one cluster, '${only}'`,
    `use '${only}', or another type`,
  );

export const clusterMoved = (cluster: string) =>
  new InputError(
    'RUNNER_CLUSTER',
    `cluster '${cluster}'`,
    'its place (kubeconfig, context and namespace, or url) cannot be changed while it has replicas',
    'scale its endpoints to 0 first, or create another Cluster',
  );

export const builtInCluster = (cluster: string, type: string) =>
  new InputError('RUNNER_CLUSTER', `cluster '${cluster}'`, `is built in with type '${type}'`, 'choose another name');

export const notLinux = (platform: string) =>
  new RunError(
    'RUNNER_PLATFORM',
    `engines run on Linux only, not on ${platform}: their processes are found through /proc`,
  );

export const runnerClosed = () => new RunError('RUNNER_CLOSED', 'the runner is closed');

/** A problem that does not stop the runner. */
export class RunnerFault extends Error {
  override readonly name = 'RunnerFault';
}

export const unwrittenRecord = (id: string, cause: unknown) =>
  new RunnerFault(`replica '${id}': its state cannot be written (${writeProblem(cause)})`, { cause });

export const unrotatedLog = (path: string, cause: unknown) =>
  new RunnerFault(`${path}: cannot be rotated (${readProblem(cause)}); it keeps growing`, { cause });

export const unkeptLog = (id: string, cause: unknown) =>
  new RunnerFault(`replica '${id}': its log cannot be kept (${writeProblem(cause)})`, { cause });

export const leftProcesses = (pids: readonly number[]) =>
  new RunnerFault(`processes of removed replicas are still running: ${pids.join(', ')}`);

/** There is not enough left for a replica. Nothing was started; it may fit later. */
export class NoRoom extends RunError {
  constructor(
    /** What is short. */
    readonly lacks: 'cpu' | 'memory' | 'gpus',
    readonly requested: ReplicaResources,
    readonly free: FreeResources,
    detail = roomText(lacks, requested, free),
  ) {
    super('RUNNER_NO_ROOM', `does not fit: ${detail}`);
  }
}

/** @param where all of it has to be, in a cluster of several machines */
export function roomText(lacks: NoRoom['lacks'], requested: ReplicaResources, free: FreeResources, where = ''): string {
  const needs = [demandText(lacks, requested), where].filter(Boolean).join(' ');
  return `it needs ${needs}; free: ${freeText(lacks, free)}`;
}

function demandText(lacks: NoRoom['lacks'], { cpu, gpus, memoryBytes, product }: ReplicaResources): string {
  if (lacks === 'cpu') return `${cpu} CPUs`;
  if (lacks === 'memory') return `${mebibytes(memoryBytes!)} of memory`;
  return `${gpus} ${gpus <= 1 ? 'GPU' : 'GPUs of one product'}${product === null ? '' : ` (${product})`}`;
}

function freeText(lacks: NoRoom['lacks'], free: FreeResources): string {
  if (lacks === 'cpu') return `${free.cpus}`;
  if (lacks === 'memory') return mebibytes(free.memoryBytes);
  if (free.gpus.length === 0) return 'there is no GPU';
  return free.gpus.map(({ free, id, product }) => `${free} of GPU ${id} (${product})`).join(', ');
}

const mebibytes = (bytes: number) => `${Math.floor(bytes / 1024 ** 2)} MiB`;

const NOT_LEADING = 'RUNNER_NOT_LEADING';

/** Another control plane may be acting on the cluster: this process was suspended, or its lease could not be renewed. */
export const notLeading = (cluster: string) =>
  new RunError(NOT_LEADING, `cluster '${cluster}' is left alone: this process does not lead the control plane now`);

export const isNotLeading = (error: unknown) => error instanceof RunError && error.code === NOT_LEADING;
