import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { packagePath } from '../../../files/package-path.js';
import type { NewRayJob } from '../../../ray/ray-job.js';
import type { RayNode } from '../../../ray/ray-nodes.js';
import { zipFile } from '../../../ray/zip-file.js';
import type { RaySettings, ReplicaSpec } from '../contract.js';
import { killMetadata, type RayReplicaRecord, replicaMetadata } from './replica-record.js';

const PROGRAM = 'replica.py';
const SPEC = 'replica.json';

const ENTRYPOINT = `exec python3 ${PROGRAM}`;

const NODE_LABEL = 'ray.io/node-id';
/** Ray kills a job that does not end so long after SIGTERM. The runner kills it at the end of its grace time: this is for its absence. */
const STOP_WAIT = 'RAY_JOB_STOP_WAIT_TIME_S';
const DRAIN_MS = 30_000;
const SPARE_S = 30;
/** Names a product without using anything up. */
const ANY_AMOUNT = 0.001;

/** Unique per start. */
export const submissionIdOf = (cluster: string, id: string, startedAt: number) =>
  `twinyard-${cluster}-${id}-${startedAt.toString(36)}`;

/** The job of a replica, and what it is started with. */
export function replicaJob(
  spec: ReplicaSpec,
  record: RayReplicaRecord,
  node: RayNode,
  { cluster, settings }: { readonly cluster: string; readonly settings: RaySettings },
) {
  const { resources } = spec;
  const stopWaitS = Math.ceil((spec.drainMs ?? DRAIN_MS) / 1000) + SPARE_S;
  const isOfProduct = resources.gpus > 0 && node.productResource !== null;
  const job = (workingFolder: string): NewRayJob => ({
    submissionId: record.submissionId,
    entrypoint: ENTRYPOINT,
    metadata: replicaMetadata(record, cluster, spec),
    runtimeEnv: { working_dir: workingFolder, env_vars: { [STOP_WAIT]: String(stopWaitS) } },
    cpus: resources.cpu ?? 0,
    gpus: resources.gpus,
    memoryBytes: Math.ceil(resources.memoryBytes ?? 0),
    resources: isOfProduct ? { [node.productResource!]: ANY_AMOUNT } : {},
    labels: { [NODE_LABEL]: node.id },
  });
  return { record, job, upload: replicaPackage(spec, record, node.address, settings) };
}

/**
 * The working folder of a replica's job: the program that runs the engine, and what it needs to know. Command, arguments and
 * environment are here and not in the job, since everyone who sees the dashboard may read a job, and only its node gets this.
 */
function replicaPackage(spec: ReplicaSpec, record: RayReplicaRecord, host: string, { ports }: RaySettings) {
  const { args, command, env, resources, secretEnv } = spec;
  const facts = { job: record.submissionId, host, ports, gpus: resources.gpus, command, args, env, secretEnv };
  const program = readFileSync(packagePath('deploy', 'ray', PROGRAM));
  return {
    // Nothing in its name says what it holds, and no second replica uses it.
    name: `_ray_pkg_${randomBytes(16).toString('hex')}.zip`,
    zip: zipFile([
      { name: PROGRAM, content: program },
      { name: SPEC, content: Buffer.from(JSON.stringify(facts)) },
    ]),
  };
}

/**
 * Ends the processes of a job at once, which Ray's API cannot: it waits for a time that was fixed at the start. The process that Ray
 * started is killed on its node, if it still is the one; the rest follows it.
 */
export function killJob({ nodeId, submissionId }: RayReplicaRecord, pid: number, cluster: string): NewRayJob {
  return {
    submissionId: `${submissionId}-kill`,
    entrypoint: `grep -qsaF '${submissionId}' /proc/${pid}/environ && kill -9 ${pid}; exit 0`,
    metadata: killMetadata(submissionId, cluster),
    ...{ runtimeEnv: {}, cpus: 0, gpus: 0, memoryBytes: 0, resources: {} },
    labels: { [NODE_LABEL]: nodeId },
  };
}
