import { statSync } from 'node:fs';
import { join } from 'node:path';
import { folderProblem, writeProblem } from '../../../files/file-problem.js';
import { makeFolder } from '../../../files/make-folder.js';
import type { ReplicaSpec } from '../contract.js';
import { badWorkingFolder, notStarted } from '../errors.js';
import type { Held } from './allocate.js';
import { replicaEnvironment } from './base-environment.js';
import { fillPlaceholders } from './fill-placeholders.js';
import { findCommand } from './find-command.js';
import { type LaunchedProcess, launch } from './launch.js';
import type { PortBook } from './port-book.js';
import { ReplicaProcess } from './replica-process.js';
import { LOG, type ReplicaRecord, WORK, writeRecord } from './replica-record.js';

export interface StartOptions {
  readonly spec: ReplicaSpec;
  readonly held: Held;
  readonly folder: string;
  readonly ports: PortBook;
  /** The control plane's own environment. */
  readonly env: NodeJS.ProcessEnv;
}

export interface StartedReplica {
  readonly record: ReplicaRecord;
  readonly process: ReplicaProcess;
}

/** Starts the process of a replica in a folder that is there. If that fails, no process and no port is left of it. */
export async function startReplica(options: StartOptions): Promise<StartedReplica> {
  const { folder, held, ports, spec } = options;
  const workingFolder = workingFolderOf(spec, folder);
  const port = spec.port === null ? await ports.take() : await ports.takeExactly(spec.port);
  try {
    const { args, env: declared } = fillPlaceholders(spec, { port, workingFolder });
    const env = replicaEnvironment(options.env, declared, { folder, gpus: held.gpus });
    const program = findCommand(spec.command, env.PATH ?? '', workingFolder);
    const launched = await launch({
      id: spec.id,
      program,
      args,
      env,
      workingFolder,
      logPath: join(folder, LOG),
      memoryBytes: spec.resources.memoryBytes,
    });
    return await letGo(launched, options, port);
  } catch (error) {
    ports.release(port);
    throw error;
  }
}

/** Writes down who the process is, lets it go on, and writes down that it has. */
async function letGo(launched: LaunchedProcess, { folder, held, spec }: StartOptions, port: number) {
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
    launched.go();
    writeRecord(folder, record);
    return { record, process: replicaProcess };
  } catch (error) {
    launched.drop();
    replicaProcess.terminate(0);
    await replicaProcess.gone;
    throw notStarted(id, writeProblem(error));
  }
}

function workingFolderOf({ workingFolder }: ReplicaSpec, folder: string): string {
  if (workingFolder === null) {
    const own = join(folder, WORK);
    makeFolder(own);
    return own;
  }
  try {
    if (!statSync(workingFolder).isDirectory()) throw new Error('is not a folder');
  } catch (error) {
    throw badWorkingFolder(workingFolder, folderProblem(error));
  }
  return workingFolder;
}
