import { chownSync } from 'node:fs';
import { join } from 'node:path';
import { writeProblem } from '../../../files/file-problem.js';
import { makeFolder } from '../../../files/make-folder.js';
import type { ReplicaSpec, ReplicaUser } from '../contract.js';
import { notStarted } from '../errors.js';
import { fillPlaceholders } from '../fill-placeholders.js';
import { LOG } from './log/replica-log.js';
import type { Allocation } from './machine/allocate.js';
import { findCommand } from './process/find-command.js';
import { type LaunchedProcess, launch } from './process/launch.js';
import type { PortBook } from './process/port-book.js';
import { replicaEnvironment } from './process/replica-environment.js';
import { ReplicaProcess } from './process/replica-process.js';
import { letThrough } from './process/replica-user.js';
import { type ReplicaRecord, WORK, writeRecord } from './replica-record.js';

/** Replicas listen where only this machine reaches them. */
export const LOCAL_HOST = '127.0.0.1';

export interface StartOptions {
  readonly spec: ReplicaSpec;
  readonly held: Allocation;
  readonly folder: string;
  readonly ports: PortBook;
  /** The control plane's own environment. */
  readonly env: NodeJS.ProcessEnv;
  /** Null: the user of this process. */
  readonly user: ReplicaUser | null;
}

export interface StartedReplica {
  readonly record: ReplicaRecord;
  readonly process: ReplicaProcess;
}

/** Starts the process of a replica in an existing folder. If that fails, neither a process nor a port of it is left. */
export async function startReplica(options: StartOptions): Promise<StartedReplica> {
  const { folder, held, ports, spec, user } = options;
  const workingFolder = join(folder, WORK);
  makeFolder(workingFolder);
  if (user !== null) {
    letThrough(folder);
    chownSync(workingFolder, user.uid, user.gid);
  }
  const port = await ports.take();
  try {
    const { args, env: declared } = fillPlaceholders(spec, { host: LOCAL_HOST, port, workingFolder });
    const env = replicaEnvironment(options.env, declared, {
      ...{ folder, gpus: held.gpus },
      home: user === null ? null : { HOME: workingFolder, USER: user.name, LOGNAME: user.name },
    });
    const program = findCommand(spec.command, env.PATH ?? '', workingFolder);
    const launched = await launch({
      id: spec.id,
      program,
      args,
      env,
      workingFolder,
      logPath: join(folder, LOG),
      memoryBytes: spec.resources.memoryBytes,
      user,
    });
    return await releaseRecorded(launched, options, port);
  } catch (error) {
    ports.release(port);
    throw error;
  }
}

/** Records the process, lets it become the engine, and records that it has. */
async function releaseRecorded(launched: LaunchedProcess, { folder, held, spec }: StartOptions, port: number) {
  const replicaProcess = new ReplicaProcess(launched.identity, folder, launched.child);
  const { endpoint, generation, healthPath, id, specHash, startupTimeoutMs, workspace } = spec;
  const starting: ReplicaRecord = {
    ...{ id, workspace, endpoint, generation, specHash, healthPath, startupTimeoutMs, port },
    ...{ resources: held.resources, gpus: held.gpus },
    ...{ step: 'starting', process: launched.identity, startedAt: Date.now(), readyAt: null, exit: null },
  };
  const record: ReplicaRecord = { ...starting, step: 'started' };
  try {
    writeRecord(folder, starting);
    launched.release();
    writeRecord(folder, record);
    return { record, process: replicaProcess };
  } catch (error) {
    launched.abandon();
    replicaProcess.terminate(0);
    await replicaProcess.gone;
    throw notStarted(id, writeProblem(error));
  }
}
