import { readProblem, writeProblem } from '../../files/file-problem.js';
import { InputError, RunError } from '../../kernel/errors.js';
import type { FreeResources, ReplicaResources } from './contract.js';

/** Everything that a runner refuses, by what went wrong. Codes are stable and all start with RUNNER_. */

export const badReplicaId = (id: string) =>
  new InputError(
    'RUNNER_REPLICA_ID',
    `replica '${id}'`,
    'is no name',
    'give 1 to 63 of a-z, 0-9 and - (not at an end)',
  );

export const unknownReplica = (id: string) =>
  new InputError('RUNNER_REPLICA_UNKNOWN', `replica '${id}'`, 'does not exist', 'it may have been stopped');

export const replicaExists = (id: string) =>
  new RunError('RUNNER_REPLICA_EXISTS', `replica '${id}': is there already; stop it first`);

export const badGpuNumber = (gpus: number) =>
  new InputError('RUNNER_GPUS', 'gpus', `${gpus} is no number of GPUs`, 'give a share below 1, or a whole number');

export const missingCommand = (command: string, where: string) =>
  new InputError('RUNNER_COMMAND', `command '${command}'`, `is not a program ${where}`, 'install it, or give its path');

export const badWorkingFolder = (path: string, problem: string) =>
  new InputError('RUNNER_WORKING_FOLDER', path, `is no working folder (${problem})`, 'give a folder that exists');

export const portTaken = (port: number) =>
  new RunError('RUNNER_PORT_TAKEN', `port ${port}: somebody else listens there`);

export const noFreePort = () => new RunError('RUNNER_NO_PORT', 'no port is free for another replica');

export const notStarted = (id: string, problem: string) =>
  new RunError('RUNNER_NOT_STARTED', `replica '${id}': cannot be started (${problem})`);

export const willNotEnd = (id: string) =>
  new RunError(
    'RUNNER_WILL_NOT_END',
    `replica '${id}': a process of it goes on after SIGKILL; it may hang in a driver`,
  );

export const folderInUse = (folder: string) =>
  new RunError('RUNNER_IN_USE', `${folder}: another control plane runs its replicas from here`);

export const badRunnerFolder = (folder: string, problem: string) =>
  new InputError(
    'RUNNER_FOLDER',
    folder,
    `replicas cannot be kept there (${problem})`,
    'give a folder on a local disk that the control plane may write to',
  );

export const notLinux = (platform: string) =>
  new RunError(
    'RUNNER_PLATFORM',
    `engines can be run on Linux only, not on ${platform}: they are found again by /proc`,
  );

export const runnerClosed = () => new RunError('RUNNER_CLOSED', 'the runner has been closed');

/** What the runner's keeper is told while it goes on. */
export class RunnerFault extends Error {
  override readonly name = 'RunnerFault';
}

export const unkeptRecord = (id: string, cause: unknown) =>
  new RunnerFault(`replica '${id}': its state cannot be written (${writeProblem(cause)})`, { cause });

export const unrotatedLog = (path: string, cause: unknown) =>
  new RunnerFault(`${path}: cannot be rotated (${readProblem(cause)}); it grows`, { cause });

export const leftProcesses = (pids: readonly number[]) =>
  new RunnerFault(`processes of replicas that are gone do not end: ${pids.join(', ')}`);

/** There is not enough left for a replica. Nothing was started; it may fit later. */
export class NoRoom extends RunError {
  constructor(
    /** What is short. */
    readonly lacks: 'cpu' | 'memory' | 'gpus',
    readonly asked: ReplicaResources,
    readonly free: FreeResources,
  ) {
    super('RUNNER_NO_ROOM', `does not fit: ${wish(lacks, asked)}; free: ${rest(lacks, free)}`);
  }
}

function wish(lacks: NoRoom['lacks'], { cpu, gpus, memoryBytes, product }: ReplicaResources): string {
  if (lacks === 'cpu') return `it wants ${cpu} CPUs`;
  if (lacks === 'memory') return `it wants ${mebibytes(memoryBytes!)} of memory`;
  return `it wants ${gpus} ${gpus <= 1 ? 'GPU' : 'GPUs of one kind'}${product === null ? '' : ` (${product})`}`;
}

function rest(lacks: NoRoom['lacks'], free: FreeResources): string {
  if (lacks === 'cpu') return `${free.cpus}`;
  if (lacks === 'memory') return mebibytes(free.memoryBytes);
  if (free.gpus.length === 0) return 'there is no GPU';
  return free.gpus.map(({ free, id, product }) => `${free} of GPU ${id} (${product})`).join(', ');
}

const mebibytes = (bytes: number) => `${Math.floor(bytes / 1024 ** 2)} MiB`;
