import { notRay, RayStatusError } from './errors.js';
import type { RayCall, RayClient } from './ray-client.js';
import type { NewRayJob, RayJob } from './ray-job.js';

/** Submitting waits for an agent of the cluster, which may just have been started. */
const SUBMIT_MS = 60_000;
const MOST_LOG_BYTES = 16 * 2 ** 20;
/** The rest of a long log is not read. */
const HEAD_BYTES = 64 * 2 ** 10;
const ALL_LINES = -1;
const NEWLINE = 0x0a;

export interface RayVersion {
  readonly ray_version: string;
  /** Another one after a restart of the head. */
  readonly session_name: string;
}

/** The jobs of a cluster. A job that is not there is no error. */
export class RayJobs {
  constructor(
    private readonly client: RayClient,
    /** Throws when this process must not change the cluster; called before each change. */
    readonly guard: () => void = () => {},
  ) {}

  async version(): Promise<RayVersion> {
    const version = await this.client.json<Partial<RayVersion>>({ path: '/api/version' });
    if (typeof version.ray_version !== 'string') throw notRay(this.client.url, '/api/version: no ray_version');
    return { ray_version: version.ray_version, session_name: String(version.session_name ?? '') };
  }

  /** Those that were submitted, of all programs. */
  async list(): Promise<RayJob[]> {
    const jobs = await this.client.json<RayJob[]>({ path: '/api/jobs/' });
    if (!Array.isArray(jobs)) throw notRay(this.client.url, '/api/jobs/: no list');
    return jobs.filter(({ submission_id, type }) => type === 'SUBMISSION' && submission_id !== null);
  }

  /** Null: there is none. */
  get(submissionId: string): Promise<RayJob | null> {
    return orMissing(this.client.json<RayJob>({ path: `/api/jobs/${submissionId}` }));
  }

  /**
   * Stores a working folder for a job, as a zip file. Its content cannot be read through the dashboard; Ray deletes it some time
   * after the job has ended, or when none was submitted.
   */
  async upload(name: string, zip: Uint8Array): Promise<string> {
    const path = `/api/packages/gcs/${name}`;
    // Reading it before it exists keeps it from being deleted until the job has begun.
    await orMissing(this.client.bytes({ path }));
    await this.#change({ method: 'PUT', path, body: zip });
    return `gcs://${name}`;
  }

  /** A job of the same id is the same job: a repeated call starts no second one. */
  async submit(job: NewRayJob): Promise<void> {
    const body = JSON.stringify({
      submission_id: job.submissionId,
      entrypoint: job.entrypoint,
      metadata: job.metadata,
      runtime_env: job.runtimeEnv,
      entrypoint_num_cpus: job.cpus,
      entrypoint_num_gpus: job.gpus,
      entrypoint_memory: job.memoryBytes,
      entrypoint_resources: job.resources,
      entrypoint_label_selector: job.labels,
    });
    this.guard();
    try {
      await this.#change({ method: 'POST', path: '/api/jobs/', body, timeoutMs: SUBMIT_MS });
    } catch (error) {
      // It may have been accepted, and the response lost.
      if (error instanceof RayStatusError && /already exists/.test(error.message)) return;
      if (!(await this.get(job.submissionId).catch(() => null))) throw error;
    }
  }

  /** Begins to end it: SIGTERM, and SIGKILL after the wait time in its environment. */
  async stop(submissionId: string): Promise<void> {
    await orMissing(this.#change({ method: 'POST', path: `/api/jobs/${submissionId}/stop` }));
  }

  /** Returns false when it has not ended: nothing was deleted. */
  async delete(submissionId: string): Promise<boolean> {
    try {
      await orMissing(this.#change({ method: 'DELETE', path: `/api/jobs/${submissionId}` }));
      return true;
    } catch (error) {
      if (error instanceof RayStatusError && /non-terminal state/.test(error.message)) return false;
      throw error;
    }
  }

  /** The last lines that a job has written; none when its node has gone, or when it has not begun. */
  logTail(submissionId: string, nodeId: string, lines: number): Promise<string[]> {
    return this.#log(submissionId, nodeId, lines, MOST_LOG_BYTES);
  }

  /** The first lines. */
  logHead(submissionId: string, nodeId: string): Promise<string[]> {
    return this.#log(submissionId, nodeId, ALL_LINES, HEAD_BYTES);
  }

  async #change(call: RayCall): Promise<void> {
    this.guard();
    await this.client.bytes(call);
  }

  async #log(submissionId: string, nodeId: string, lines: number, mostBytes: number): Promise<string[]> {
    const query = new URLSearchParams({ node_id: nodeId, filename: logFile(submissionId), lines: String(lines) });
    try {
      const { body, isCut } = await this.client.bytes({ path: `/api/v0/logs/file?${query}`, mostBytes });
      const whole = isCut ? body.subarray(0, body.lastIndexOf(NEWLINE) + 1) : body;
      return whole.toString('utf8').split('\n').slice(0, -1);
    } catch (error) {
      if (error instanceof RayStatusError) return [];
      throw error;
    }
  }
}

const logFile = (submissionId: string) => `job-driver-${submissionId}.log`;

async function orMissing<T>(response: Promise<T>): Promise<T | null> {
  try {
    return await response;
  } catch (error) {
    // Between its look-up and the call it may go: Ray reports that as a failed call of its own.
    const isMissing =
      error instanceof RayStatusError && (error.status === 404 || / does not exist| state None/.test(error.message));
    if (isMissing) return null;
    throw error;
  }
}
