import { statSync } from 'node:fs';
import type { ModelCache } from '../../models/cache/model-cache.js';
import type { Clock, ModelRegistry } from '../../models/contract.js';
import type { DownloadProgress } from '../../models/download/transfer-progress.js';
import { isTransient } from '../../models/errors.js';
import { retryDelay } from '../queue/retry-delay.js';
import type { Timing } from '../queue/timing.js';
import { fetchModel, pathIn, type RequestedModel } from './fetch-model.js';
import type { ModelState } from './model-state.js';

export interface ModelFetchesOptions {
  readonly cache: ModelCache;
  readonly timing: Timing;
  readonly clock?: Clock;
  /** Called when the state of this key's model has changed. */
  readonly changed: (key: string) => void;
}

/** How a model's registry is reached: opened for each download, and closed after it. */
export interface ModelOrigin {
  /** Changes when a failed download should be retried at once. */
  readonly edition: string;
  /** A revision can be requested again after its branch has moved. */
  readonly keepsRevisions: boolean;
  open(): ModelRegistry;
}

interface Fetch {
  readonly requested: RequestedModel;
  readonly origin: ModelOrigin;
  readonly ended: AbortController;
  /** The revision that was fetched before. */
  readonly revision: string | null;
  state: ModelState;
  failures: number;
  reportedAt: number;
  cancelRetry: () => void;
}

type Facts = Readonly<Record<string, unknown>>;

/** How often a download's progress is reported. */
const REPORT_MS = 1000;

/** Downloads the models of endpoints in the background, and retries failed downloads. */
export class ModelFetches {
  readonly #fetches = new Map<string, Fetch>();
  readonly #options: ModelFetchesOptions;

  constructor(options: ModelFetchesOptions) {
    this.#options = options;
  }

  /**
   * The state of a key's model. The first call starts the download, unless the model that `known` describes, from the endpoint's
   * status, is still there: a restart contacts no registry, and a branch that has moved changes nothing.
   */
  stateOf(key: string, requested: RequestedModel, origin: ModelOrigin, known: Facts | null): ModelState {
    const present = this.#fetches.get(key);
    if (present !== undefined && isSame(requested, { ...present.requested })) {
      if (present.state.state === 'ready' || present.origin.edition === origin.edition) return present.state;
    }
    this.forget(key);
    const before = known !== null && isSame(requested, known) ? known : null;
    const fetch: Fetch = {
      ...{ requested, origin, ended: new AbortController(), failures: 0, reportedAt: 0, cancelRetry: () => {} },
      revision: before === null ? null : String(before.revision),
      state: (before === null ? null : foundAgain(requested, before)) ?? {
        state: 'fetching',
        bytes: 0,
        total: 0,
        quietMs: 0,
      },
    };
    this.#fetches.set(key, fetch);
    if (fetch.state.state !== 'ready') void this.#run(key, fetch);
    return fetch.state;
  }

  /** Ends the download; what has arrived stays in the cache. */
  forget(key: string): void {
    const fetch = this.#fetches.get(key);
    fetch?.ended.abort(new Error('the model is not needed any more'));
    fetch?.cancelRetry();
    this.#fetches.delete(key);
  }

  close(): void {
    for (const key of [...this.#fetches.keys()]) this.forget(key);
  }

  async #run(key: string, fetch: Fetch): Promise<void> {
    const { cache, changed, clock, timing } = this.#options;
    const { requested, origin } = fetch;
    const { signal } = fetch.ended;
    const onProgress = ({ bytes, quietMs, totalBytes }: DownloadProgress) => {
      fetch.state = { state: 'fetching', bytes, total: totalBytes, quietMs };
      if (timing.now() - fetch.reportedAt < REPORT_MS) return;
      fetch.reportedAt = timing.now();
      changed(key);
    };
    try {
      const registry = origin.open();
      const revision = origin.keepsRevisions ? fetch.revision : null;
      const options = { registry, cache, requested, revision, onProgress, signal };
      const model = await fetchModel(clock === undefined ? options : { ...options, clock }).finally(() =>
        registry.close(),
      );
      fetch.state = { state: 'ready', model };
    } catch (error) {
      if (signal.aborted) return;
      fetch.failures++;
      const waitMs = retryDelay(fetch.failures);
      const retryAt = timing.now() + waitMs;
      fetch.state = { state: 'failed', message: (error as Error).message, isTransient: isTransient(error), retryAt };
      fetch.cancelRetry = timing.after(waitMs, () => void this.#run(key, fetch));
    }
    changed(key);
  }
}

const isSame = (requested: RequestedModel, known: Facts) =>
  (Object.keys(requested) as (keyof RequestedModel)[]).every((part) => known[part] === requested[part]);

function foundAgain(requested: RequestedModel, facts: Facts): ModelState | null {
  const path = pathIn(String(facts.folder), requested);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return null;
  return { state: 'ready', model: { path, revision: String(facts.revision), facts } };
}
