import type { RayJobs } from '../../../ray/ray-jobs.js';
import type { RayAccess, RayTransport } from '../../../ray/ray-transport.js';
import type { ClusterSettings, RunnerEvent } from '../contract.js';
import type { ReadinessTiming } from '../readiness.js';
import type { RayReplicaRecord, ReplicaFiles } from './replica-record.js';

/** What all replicas of a runner share. */
export interface RayReplicaContext {
  readonly jobs: RayJobs;
  readonly files: ReplicaFiles;
  readonly readiness: ReadinessTiming;
  /** Whether an address responds with a status of 2xx. */
  readonly responds: (url: string, timeoutMs: number) => Promise<boolean>;
  readonly followMs: number;
  readonly killWaitMs: number;
  /** Aborted when the runner is closed. */
  readonly closed: AbortSignal;
  readonly scrub: (line: string) => string;
  readonly emit: (event: RunnerEvent) => void;
  readonly onFault: (error: Error) => void;
  /** Looks at the cluster now. */
  readonly look: () => void;
  /** Kills the processes of a replica on its node. */
  readonly kill: (record: RayReplicaRecord, pid: number) => Promise<void>;
}

/** What was seen of the cluster at one time. */
export interface ClusterView {
  /** When it was requested. */
  readonly at: number;
  /** Null: not read. */
  readonly nodeIds: ReadonlySet<string> | null;
  /** Why the cluster cannot be seen; null when it can. */
  readonly problem: string | null;
}

export interface RayTiming {
  /** From one look at the cluster to the next: while nothing moves, and while a replica starts or ends. */
  readonly idleMs: number;
  readonly movingMs: number;
  /** The longest wait while the dashboard cannot be reached. */
  readonly awayMs: number;
  readonly readiness: ReadinessTiming;
  /** How long a job may take to end after its grace time. */
  readonly killWaitMs: number;
}

export interface RayRunnerOptions {
  /** The name of the Cluster: jobs carry it. */
  readonly cluster: string;
  /** A folder for what is known of replicas and cannot be kept in Ray. */
  readonly folder: string;
  readonly settings: ClusterSettings;
  readonly scrub?: (line: string) => string;
  readonly onFault?: (error: Error) => void;
  /** Whether it may change the cluster now: another control plane may lead. By default always. */
  readonly mayAct?: () => boolean;
  readonly timing?: Partial<RayTiming>;
  /** Instead of HTTP. */
  readonly transport?: (access: RayAccess) => RayTransport;
  readonly responds?: RayReplicaContext['responds'];
}

export const RAY_TIMING: RayTiming = {
  ...{ idleMs: 2000, movingMs: 500, awayMs: 10_000, killWaitMs: 30_000 },
  readiness: { everyMs: 1000, timeoutMs: 5000, failures: 3 },
};
