/** A job as the dashboard lists it. */
export interface RayJob {
  readonly type: 'SUBMISSION' | 'DRIVER';
  readonly submission_id: string | null;
  readonly status: RayJobStatus;
  readonly message: string | null;
  /** Why Ray failed it: `JOB_SUPERVISOR_ACTOR_DIED`, ... */
  readonly error_type: string | null;
  /** Milliseconds since 1970, by the clock of the cluster. */
  readonly start_time: number | null;
  readonly end_time: number | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly driver_node_id: string | null;
  readonly driver_exit_code: number | null;
}

export type RayJobStatus = 'PENDING' | 'RUNNING' | 'STOPPED' | 'SUCCEEDED' | 'FAILED';

export const isEnded = ({ status }: Pick<RayJob, 'status'>) =>
  status === 'STOPPED' || status === 'SUCCEEDED' || status === 'FAILED';

/** A job to submit. */
export interface NewRayJob {
  readonly submissionId: string;
  /** For a shell. Everyone who may look at the dashboard reads it, the metadata and the environment. */
  readonly entrypoint: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly runtimeEnv: Readonly<Record<string, unknown>>;
  readonly cpus: number;
  readonly gpus: number;
  readonly memoryBytes: number;
  readonly resources: Readonly<Record<string, number>>;
  readonly labels: Readonly<Record<string, string>>;
}
