import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../../files/make-folder.js';
import { replacePrivateFile } from '../../../files/replace-file.js';
import type { RayJob } from '../../../ray/ray-job.js';
import type { ExitReason, GpuShare, ReplicaExit, ReplicaResources, ReplicaSpec } from '../contract.js';
import { REPLICA_ID } from '../errors.js';

/** What does not change from the start of a replica on: it is in the metadata of its job, which everyone may read. */
export interface RayReplicaRecord {
  readonly id: string;
  readonly workspace: string;
  readonly endpoint: string;
  readonly generation: number;
  readonly specHash: string;
  readonly resources: ReplicaResources;
  readonly healthPath: string;
  readonly startupTimeoutMs: number;
  readonly startedAt: number;
  /** The id of its job. */
  readonly submissionId: string;
  /** The node that it was placed on, and the address of that node for the gateway. */
  readonly nodeId: string;
  readonly address: string;
  /** As planned: Ray chooses the devices of a node. */
  readonly gpus: readonly GpuShare[];
}

/** What became of it. A job cannot be changed, so this is in a file of the control plane that started it. */
export interface RayReplicaProgress {
  readonly url: string | null;
  /** Of the program that Ray started. */
  readonly pid: number | null;
  readonly gpus: readonly GpuShare[] | null;
  readonly readyAt: number | null;
  readonly ending: ExitReason | null;
  readonly exit: ReplicaExit | null;
}

export const NEW_REPLICA: RayReplicaProgress = {
  ...{ url: null, pid: null, gpus: null, readyAt: null, ending: null, exit: null },
};

const CLUSTER = 'twinyard.cluster';
const RECORD = 'twinyard.replica';
/** Of a job that ends the processes of another one. */
const KILLS = 'twinyard.kills';

export function replicaMetadata(record: RayReplicaRecord, cluster: string, { engine }: Pick<ReplicaSpec, 'engine'>) {
  return {
    [CLUSTER]: cluster,
    'twinyard.workspace': record.workspace,
    'twinyard.endpoint': record.endpoint,
    ...(engine === undefined ? {} : { 'twinyard.engine': `${engine.name} ${engine.version ?? ''}`.trim() }),
    [RECORD]: JSON.stringify(record),
  };
}

/** @param address an IPv4 or IPv6 address, or a host name */
export const replicaUrl = (address: string, port: number) =>
  `http://${address.includes(':') ? `[${address}]` : address}:${port}`;

export const killMetadata = (submissionId: string, cluster: string) => ({ [CLUSTER]: cluster, [KILLS]: submissionId });

export const isKillJob = ({ metadata }: RayJob, cluster: string) =>
  metadata?.[CLUSTER] === cluster && metadata[KILLS] !== undefined;

/** A job without metadata: Ray's watch of a job that is gone reports it as failed, and so lists it again. */
export const isGhost = ({ metadata, submission_id }: RayJob, cluster: string) =>
  metadata === null && submission_id!.startsWith(`twinyard-${cluster}-`);

/** The replica of a job; null for jobs of others. */
export function replicaOfJob({ metadata, submission_id }: RayJob, cluster: string): RayReplicaRecord | null {
  if (metadata?.[CLUSTER] !== cluster || metadata[RECORD] === undefined) return null;
  try {
    const record = JSON.parse(metadata[RECORD]) as RayReplicaRecord;
    // Files are named after it: any user of the Ray cluster can submit a job with this metadata.
    const isOurs = record.submissionId === submission_id && SUBMISSION_ID.test(record.submissionId);
    return isOurs && REPLICA_ID.test(record.id) ? record : null;
  } catch {
    return null;
  }
}

const SUBMISSION_ID = /^twinyard-[\w.-]+$/;

interface WrittenReplica {
  readonly record: RayReplicaRecord;
  readonly progress: RayReplicaProgress;
}

const SUFFIX = '.json';

/** The files of the replicas of one cluster. */
export class ReplicaFiles {
  constructor(private readonly folder: string) {}

  write(record: RayReplicaRecord, progress: RayReplicaProgress): void {
    makeFolder(this.folder);
    replacePrivateFile(this.#pathOf(record), `${JSON.stringify({ record, progress })}\n`);
  }

  /** Those that can be read. */
  read(): WrittenReplica[] {
    return names(this.folder).flatMap((name) => {
      try {
        const written = JSON.parse(readFileSync(join(this.folder, name), 'utf8')) as WrittenReplica;
        return typeof written.record.id === 'string' && written.progress !== undefined ? [written] : [];
      } catch {
        return [];
      }
    });
  }

  async delete(record: RayReplicaRecord): Promise<void> {
    await rm(this.#pathOf(record), { force: true });
  }

  #pathOf({ submissionId }: RayReplicaRecord): string {
    return join(this.folder, `${submissionId}${SUFFIX}`);
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(SUFFIX));
  } catch {
    return [];
  }
}
