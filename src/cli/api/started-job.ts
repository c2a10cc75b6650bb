import { setTimeout as delay } from 'node:timers/promises';
import type { jobView } from '../../api/views/job-views.js';
import { InputError, RunError } from '../../kernel/errors.js';
import type { ApiClient } from './api-client.js';

export type ShownJob = ReturnType<typeof jobView>;

/** How often in a row a lost connection is tried again: the job goes on without it. */
const MOST_LOST = 5;
const AGAIN_MS = 500;
const LONGEST_MS = 2500;

/** Long work that this command started in a gateway. */
export class StartedJob {
  private constructor(
    private readonly client: ApiClient,
    private readonly id: string,
  ) {}

  static async create(client: ApiClient, path: string, body: object): Promise<StartedJob> {
    const { id } = await client.call<ShownJob>('POST', path, { body: JSON.stringify(body) });
    return new StartedJob(client, id);
  }

  /**
   * Resolves with the result when the job is done, with null when it was cancelled; throws its error when it failed.
   * @param mostLost how often in a row a lost connection is tried again
   */
  async result<Result>(onChange: (job: ShownJob) => void, mostLost = MOST_LOST): Promise<Result | null> {
    const { error, result, state } = await this.#ended(onChange, mostLost);
    if (state === 'cancelled') return null;
    if (error === null) return result as Result;
    const { code, hint, message } = error;
    if (hint === '') throw new RunError(code, message);
    const colon = message.indexOf(': ');
    throw new InputError(code, message.slice(0, colon), message.slice(colon + 2), hint);
  }

  /** Resolves when the job has undone what it must not leave behind. */
  async cancel(): Promise<void> {
    await this.client.call('DELETE', this.#path);
  }

  get #path(): string {
    return `/api/v1/jobs/${encodeURIComponent(this.id)}`;
  }

  async #ended(onChange: (job: ShownJob) => void, mostLost: number): Promise<ShownJob & { readonly result: unknown }> {
    for (let lost = 0; ; ) {
      try {
        for await (const { data, event } of this.client.events(
          `${this.#path}/events`,
          {},
          new AbortController().signal,
        )) {
          if (event === 'job') onChange(JSON.parse(data) as ShownJob);
          lost = 0;
        }
        const job = await this.client.call<ShownJob & { result: unknown }>('GET', this.#path);
        if (job.state !== 'waiting' && job.state !== 'running') return job;
      } catch (error) {
        if (error instanceof InputError && error.code === 'API_JOB') throw jobGone(this.client.url);
        if (!(error instanceof RunError) || lost >= mostLost) throw error;
      }
      lost++;
      await delay(Math.min(LONGEST_MS, AGAIN_MS * lost));
    }
  }
}

const jobGone = (url: string) =>
  new RunError('JOB_GONE', `${url}: the job is gone, because the gateway was restarted: run the command again`);
