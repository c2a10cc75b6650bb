/**
 * What the control plane asks of whatever runs engines: this machine, or later a cluster. Everything that passes between
 * them is plain data. A runner keeps no wishes of its own: it starts what it is told to, says what became of it, and finds
 * it again after a restart. Which replicas there should be, and what follows a crash, is for the reconciler to say.
 *
 * `runner.contract.ts` is the test that every runner passes.
 */
export interface Runner {
  /** `local` and, in time, others. */
  readonly kind: string;

  /** What there is to run on, and what of it nobody has been given. Asks afresh each time. */
  discover(): Promise<Capacity>;

  /**
   * Starts a replica; resolves when its process runs, which is long before it is ready. Throws `NoRoom` when it does not
   * fit, and other errors of `errors.ts` when it cannot be started at all; then nothing is left of it.
   */
  start(spec: ReplicaSpec): Promise<ReplicaHandle>;

  /** All replicas, in order of their ids: those that run, and those that have exited and that nobody has stopped yet. */
  list(): Promise<ReplicaHandle[]>;

  /**
   * Asks a replica to end, ends it by force when `graceMs` have passed, and forgets it with its folder and its log. Resolves
   * when no process of it is left. Of a replica that has exited it says how; of one that is not known, null. While it is
   * under way it may be asked for again: the shorter time counts.
   */
  stop(id: string, options: StopOptions): Promise<ReplicaExit | null>;

  /**
   * The last lines of what a replica has written to stdout and stderr, then, with `follow`, each line as it comes until the
   * replica has exited. Throws RUNNER_REPLICA_UNKNOWN when it is read.
   */
  logs(id: string, options?: LogOptions): AsyncIterable<string>;

  /**
   * Tells what happens from now on; returns how to stop listening. What was before is in `list`. Listeners are called in the
   * order of events and must not throw.
   */
  watch(listener: (event: RunnerEvent) => void): () => void;

  /** Lets go of everything without ending any replica: who opens the runner next finds them all. */
  close(): Promise<void>;
}

/** A replica as it should run. Its command is complete but for what only the runner knows: see `PLACEHOLDERS`. */
export interface ReplicaSpec {
  /** Unique among all replicas of the runner; a DNS label: a-z, 0-9 and '-', at most 63. */
  readonly id: string;
  readonly workspace: string;
  readonly endpoint: string;
  /** Which edition of the endpoint it belongs to, and a hash of all that makes it differ from others: both are told back. */
  readonly generation: number;
  readonly specHash: string;
  /** A program on the PATH, or a path. It stays in the foreground. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to a small base; nothing else of the control plane's own environment is passed on. */
  readonly env: Readonly<Record<string, string>>;
  /** The port it has to have, or null for any that is free. */
  readonly port: number | null;
  /** Where it runs; null for an empty folder of its own, which goes when it goes. */
  readonly workingFolder: string | null;
  readonly resources: ReplicaResources;
  readonly placement: Placement;
  /** Where it says with a status of 2xx that it is ready: `/health`. */
  readonly healthPath: string;
  /** A replica that is not ready by then is ended. */
  readonly startupTimeoutMs: number;
}

/** In arguments and values of the environment these stand for what the runner finds for the replica. */
export const PLACEHOLDERS = { port: '{{port}}', workingFolder: '{{working_folder}}' } as const;

/** A share of a GPU where it fills up what others have begun, or where the most is left. */
export type Placement = 'pack' | 'spread';

/** What one replica is given. What is null is not counted and not limited. */
export interface ReplicaResources {
  readonly cpu: number | null;
  readonly memoryBytes: number | null;
  /** 0, a share of one GPU below 1, or a whole number of GPUs that it has for itself. */
  readonly gpus: number;
  /** `H100`, `NVIDIA A100`, ...: only GPUs whose name has these words will do. */
  readonly product: string | null;
}

export type ReplicaPhase = 'starting' | 'ready' | 'unready' | 'stopping' | 'exited';

/** A replica as it is: a copy, which does not change. */
export interface ReplicaHandle {
  readonly id: string;
  readonly workspace: string;
  readonly endpoint: string;
  readonly generation: number;
  readonly specHash: string;
  /** `unready` is one that was ready before. */
  readonly phase: ReplicaPhase;
  /** Without a slash at its end. Until it is ready it may change, if somebody else has taken the port. */
  readonly url: string;
  readonly port: number;
  /** Its process, where a runner has processes. */
  readonly pid: number | null;
  readonly resources: ReplicaResources;
  readonly gpus: readonly GpuShare[];
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly readyAt: number | null;
  /** How it ended, once it has. */
  readonly exit: ReplicaExit | null;
}

/**
 * Why a replica is no more: it ended by itself, it was told to, it was not ready in time, or it ended while no control plane
 * was there to see it.
 */
export type ExitReason = 'ended' | 'stopped' | 'startup-timeout' | 'unseen';

export interface ReplicaExit {
  readonly reason: ExitReason;
  /** Null if a signal ended it, or if it was started by an earlier run of the control plane: then nobody is told. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The end of its log, the oldest line first. */
  readonly lastLines: readonly string[];
}

/** `started` comes again if a replica had to be started again on another port before it was ready. */
export interface RunnerEvent {
  readonly type: 'started' | 'ready' | 'unready' | 'exited';
  readonly replica: ReplicaHandle;
}

export interface StopOptions {
  readonly graceMs: number;
}

export interface LogOptions {
  /** How many of the lines so far; 100 unless given. */
  readonly lines?: number;
  readonly follow?: boolean;
  /** Ends following. */
  readonly signal?: AbortSignal;
}

export interface Gpu {
  /** As CUDA_VISIBLE_DEVICES names it. */
  readonly id: string;
  readonly product: string;
  /** Null where the device does not say. */
  readonly memoryMiB: number | null;
}

export interface GpuShare {
  readonly id: string;
  /** Above 0, at most 1. */
  readonly share: number;
}

/** What nobody has been given. */
export interface FreeResources {
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Of each GPU, the share. */
  readonly gpus: readonly (Gpu & { readonly free: number })[];
}

export interface Capacity {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: readonly Gpu[];
  readonly free: FreeResources;
  /** What happens to a replica that takes more than it was given: nothing, or each of its processes is refused more. */
  readonly limits: Readonly<Record<'cpu' | 'memory' | 'gpus', 'none' | 'each-process'>>;
  /** Why there may be more than is listed here, for people. */
  readonly problems: readonly string[];
}
