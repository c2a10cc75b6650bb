import type { KubernetesSettings } from './kubernetes-cluster.js';
import type { PodSource } from './pod-source.js';

/**
 * The interface between the control plane and a system that runs engines: this machine, or a cluster. What passes
 * between them is plain data. A runner has no desired state: it starts and stops replicas on demand, reports their
 * state, and finds them again after a restart. Which replicas should exist, and what follows a crash, is decided by the
 * reconciler.
 *
 * Every runner passes `runner.contract.ts`. A new one is a folder with the file names of `local/` and a line in
 * `registry.ts`.
 */
export interface Runner {
  /** The name of its `RunnerType`. */
  readonly type: string;

  /** Applies the settings of its Cluster. Running replicas keep their resources. */
  configure(settings: ClusterSettings): void;

  /** Reads the total and the free resources. Throws when the cluster cannot be reached. */
  discover(): Promise<ClusterCapacity>;

  /**
   * Starts a replica; resolves when the cluster has accepted it, long before it is ready. Throws `NoRoom` when it does
   * not fit (a cluster with its own queue keeps it `starting` with a `problem` instead), and other errors of
   * `errors.ts` when it cannot be started at all; then nothing of it is left.
   */
  start(spec: ReplicaSpec): Promise<ReplicaHandle>;

  /**
   * All replicas, ordered by id: running ones, and exited ones that have not been stopped. A runner that has lost
   * contact with its cluster returns what it saw last: a replica that cannot be seen is not gone.
   */
  list(): Promise<ReplicaHandle[]>;

  /**
   * Terminates a replica, kills it after `graceMs`, passes its log to `keepLog`, and removes its files and logs. Resolves when none of its processes
   * is left, with how it ended; null when the replica is unknown. A second call while it is under way can only shorten
   * the grace time.
   */
  stop(id: string, options: StopOptions): Promise<ReplicaExit | null>;

  /**
   * The last lines that a replica has written to stdout and stderr, without secrets, then, with `follow`, each new line
   * until the replica has exited or the runner is closed. Throws RUNNER_REPLICA_UNKNOWN on the first read.
   */
  logs(id: string, options?: LogOptions): AsyncIterable<string>;

  /**
   * Reports events from now on; returns the function that ends it. Listeners are called in the order of events and must
   * not throw.
   */
  watch(listener: (event: RunnerEvent) => void): () => void;

  /**
   * Releases everything without ending any replica: the next runner that is opened finds them all. `list` still returns
   * what was seen last.
   */
  close(): Promise<void>;
}

/** What a Cluster declares, apart from how it is reached. */
export interface ClusterSettings {
  /** The accelerators to use instead of detected ones. */
  readonly gpus?: readonly Gpu[];
  readonly kubernetes?: Partial<KubernetesSettings>;
  readonly ray?: Partial<RaySettings>;
}

/** Where a Ray cluster is, and where the gateway reaches its nodes. */
export interface RaySettings {
  /** Of its dashboard. */
  readonly url: string;
  readonly token: string | null;
  /** Certificates to trust instead of the system's, for https. */
  readonly caFile: string | null;
  /** The first and the last port of engines on each node. */
  readonly ports: readonly [number, number];
  /** The address of a node for the gateway, by its address in Ray, where they differ. */
  readonly nodeAddresses: Readonly<Record<string, string>>;
}

/**
 * A replica to start. Its command is complete except for values that only the runner knows: see `RUNNER_PLACEHOLDERS`.
 */
export interface ReplicaSpec {
  /** Unique among all replicas of the runner; a DNS label: a-z, 0-9 and '-', at most 63. */
  readonly id: string;
  readonly workspace: string;
  readonly endpoint: string;
  /** What it runs, for people who look at the cluster. */
  readonly engine?: { readonly name: string; readonly version: string | null };
  /**
   * The generation of the endpoint, and a hash of everything that distinguishes replicas; both are returned in handles.
   */
  readonly generation: number;
  readonly specHash: string;
  /** A program on the PATH, or a path. It stays in the foreground. */
  readonly command: string;
  readonly args: readonly string[];
  /** Container image by accelerator, for runners that start containers. */
  readonly images: Readonly<Record<string, string>>;
  /** What its pod is made of beyond that, for runners that start pods. */
  readonly pod?: PodSource;
  /** Added to a small base; nothing else of the control plane's own environment is passed on. */
  readonly env: Readonly<Record<string, string>>;
  /** Added to the environment as well, and never written down or logged. */
  readonly secretEnv: Readonly<Record<string, string>>;
  readonly resources: ReplicaResources;
  readonly placement: GpuPlacement;
  /** Returns a status of 2xx when the replica is ready: `/health`. */
  readonly healthPath: string;
  /** A replica that is not ready by then is ended. */
  readonly startupTimeoutMs: number;
  /** How long requests that it has begun may take when it is ended; where absent, 30 s. */
  readonly drainMs?: number;
}

/** A share of a GPU goes to the GPU that it fills best, or to the one with the most left. */
export type GpuPlacement = 'pack' | 'spread';

/** The resources of one replica. Null: neither counted nor limited. */
export interface ReplicaResources {
  readonly cpu: number | null;
  readonly memoryBytes: number | null;
  /** 0, a share of one GPU below 1, or a whole number of GPUs that no other replica uses. */
  readonly gpus: number;
  /** Only GPUs whose name contains these words: `H100`, `NVIDIA A100`, ... */
  readonly product: string | null;
}

export type RunPhase = 'starting' | 'ready' | 'unready' | 'stopping' | 'exited';

/** The observed state of a replica: a snapshot. */
export interface ReplicaHandle {
  readonly id: string;
  readonly workspace: string;
  readonly endpoint: string;
  readonly generation: number;
  readonly specHash: string;
  /** `unready`: it was ready before. */
  readonly phase: RunPhase;
  /** Where the gateway reaches it, without a slash at the end. It may change until the replica is ready. */
  readonly url: string;
  /** What keeps it from becoming ready, in the cluster's words: an image that cannot be pulled, no node with room. */
  readonly problem: string | null;
  readonly resources: ReplicaResources;
  readonly gpus: readonly GpuShare[];
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly readyAt: number | null;
  /** How it ended; null until then. */
  readonly exit: ReplicaExit | null;
}

/**
 * Why a replica ended: by itself, because it was stopped, because it was not ready in time, or while no control plane
 * was running.
 */
export type ExitReason = 'ended' | 'stopped' | 'startup-timeout' | 'unseen';

export interface ReplicaExit {
  readonly reason: ExitReason;
  /**
   * Null when a signal ended it, and when the runner cannot know: the process was started by an earlier control plane.
   */
  readonly code: number | null;
  readonly signal: string | null;
  /** The cluster's reason beyond code and signal: `OOMKilled`, `node lost`. Null without one. */
  readonly detail: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The end of its log, the oldest line first. */
  readonly lastLines: readonly string[];
}

/**
 * `started` is repeated when a replica had to be started again elsewhere before it was ready; `problem`: what keeps it from becoming
 * ready has changed.
 */
export interface RunnerEvent {
  readonly type: 'started' | 'ready' | 'unready' | 'problem' | 'exited';
  readonly replica: ReplicaHandle;
}

/** The system user that replicas run as, where it is not the one of the control plane. */
export interface ReplicaUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface StopOptions {
  readonly graceMs: number;
  /**
   * Called once with a replica that has exited and the last lines of its log, before that is removed: as many as the
   * runner can return, of at most 10,000. It never throws.
   */
  readonly keepLog?: (exited: ReplicaHandle, lines: AsyncIterable<string>) => Promise<void>;
}

export interface LogOptions {
  /** At most so many of the last lines written so far; 100 by default, with `since` all of them. */
  readonly tail?: number;
  /**
   * Only lines written since then, in milliseconds since 1970. None of them is left out; lines written up to a second
   * before may be included.
   */
  readonly since?: number;
  /** Continues from its position, if it has one, instead of `since` and `tail`. */
  readonly cursor?: LogCursor;
  readonly follow?: boolean;
  /** Ends following. */
  readonly signal?: AbortSignal;
}

/**
 * A place in a log. The runner moves it behind each line before it returns the line. A position is valid for the same
 * replica after the runner has been opened again; one whose lines are gone continues with the oldest complete line that
 * is left. A runner without positions leaves it null.
 */
export interface LogCursor {
  position: string | null;
}

export interface Gpu {
  /** Unique in the cluster. On one machine it is the id in CUDA_VISIBLE_DEVICES. */
  readonly id: string;
  readonly product: string;
  /** Null when the device does not report it. */
  readonly memoryMiB: number | null;
}

export interface GpuShare {
  readonly id: string;
  /** Above 0, at most 1. */
  readonly share: number;
  /** Of the device; absent where it is not known. */
  readonly product?: string;
}

/** Resources that are not allocated. */
export interface FreeResources {
  readonly cpus: number;
  readonly memoryBytes: number;
  /** With the free share of each GPU. */
  readonly gpus: readonly (Gpu & { readonly free: number })[];
}

/** One machine of a cluster. */
export interface NodeCapacity {
  readonly name: string;
  readonly cpus: number;
  readonly freeCpus: number;
  readonly memoryBytes: number;
  readonly freeMemoryBytes: number;
  readonly gpus: number;
  /** The sum of free shares. */
  readonly freeGpus: number;
  readonly product: string | null;
}

export interface ClusterCapacity {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: readonly Gpu[];
  readonly free: FreeResources;
  /** The machines of a cluster of several, where they are known. */
  readonly nodes?: readonly NodeCapacity[];
  /** How limits are enforced: not at all, for each process of a replica, or for all of them together. */
  readonly limits: Readonly<Record<'cpu' | 'memory' | 'gpus', 'none' | 'each-process' | 'replica'>>;
  /** Why there may be more than is listed here. */
  readonly problems: readonly string[];
}
