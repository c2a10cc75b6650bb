import { statSync } from 'node:fs';
import type { ModelCache } from '../../models/cache/model-cache.js';
import type { Clock, ModelRegistry } from '../../models/contract.js';
import type { DownloadProgress } from '../../models/download/transfer-progress.js';
import { isTransient } from '../../models/errors.js';
import { retryDelay } from '../retry-delay.js';
import type { Timing } from '../timing.js';
import { type AskedModel, fetchModel, pathIn } from './fetch-model.js';
import type { ModelState } from './model-state.js';

export interface ModelFetchesOptions {
  readonly cache: ModelCache;
  readonly timing: Timing;
  readonly clock?: Clock;
  /** Something is known of this key's model that was not before. */
  readonly changed: (key: string) => void;
}

/** How a model's registry is reached: opened for each download, and closed after it. */
export interface ModelOrigin {
  /** Changes when a download that failed might not fail again. */
  readonly edition: string;
  /** A version may be asked for by what it stood for. */
  readonly keepsRevisions: boolean;
  open(): ModelRegistry;
}

interface Fetch {
  readonly asked: AskedModel;
  readonly origin: ModelOrigin;
  readonly ended: AbortController;
  /** What it stood for when it was fetched before. */
  readonly revision: string | null;
  state: ModelState;
  failures: number;
  toldAt: number;
  forget: () => void;
}

type Facts = Readonly<Record<string, unknown>>;

/** How often a download's progress is told. */
const TELL_MS = 1000;

/** The models that endpoints need: each is fetched in the background, and tried again later when that fails. */
export class ModelFetches {
  readonly #fetches = new Map<string, Fetch>();
  readonly #options: ModelFetchesOptions;

  constructor(options: ModelFetchesOptions) {
    this.#options = options;
  }

  /**
   * How far a key's model is. The first time it is asked for, it is fetched, unless what was said of it before (`known`, the
   * facts of an earlier one) is true still: a restart asks no registry, and a branch that has moved moves nothing.
   */
  stateOf(key: string, asked: AskedModel, origin: ModelOrigin, known: Facts | null): ModelState {
    const present = this.#fetches.get(key);
    if (present !== undefined && isSame(asked, { ...present.asked })) {
      if (present.state.state === 'ready' || present.origin.edition === origin.edition) return present.state;
    }
    this.forget(key);
    const before = known !== null && isSame(asked, known) ? known : null;
    const fetch: Fetch = {
      ...{ asked, origin, ended: new AbortController(), failures: 0, toldAt: 0, forget: () => {} },
      revision: before === null ? null : String(before.revision),
      state: (before === null ? null : foundAgain(asked, before)) ?? {
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

  /** Nobody needs it any more; what has come of it stays in the cache. */
  forget(key: string): void {
    const fetch = this.#fetches.get(key);
    fetch?.ended.abort(new Error('nobody needs the model any more'));
    fetch?.forget();
    this.#fetches.delete(key);
  }

  close(): void {
    for (const key of [...this.#fetches.keys()]) this.forget(key);
  }

  async #run(key: string, fetch: Fetch): Promise<void> {
    const { cache, changed, clock, timing } = this.#options;
    const { asked, origin } = fetch;
    const { signal } = fetch.ended;
    const onProgress = ({ bytes, quietMs, totalBytes }: DownloadProgress) => {
      fetch.state = { state: 'fetching', bytes, total: totalBytes, quietMs };
      if (timing.now() - fetch.toldAt < TELL_MS) return;
      fetch.toldAt = timing.now();
      changed(key);
    };
    try {
      const registry = origin.open();
      const revision = origin.keepsRevisions ? fetch.revision : null;
      const options = { registry, cache, asked, revision, onProgress, signal };
      const model = await fetchModel(clock === undefined ? options : { ...options, clock }).finally(() =>
        registry.close(),
      );
      fetch.state = { state: 'ready', model };
    } catch (error) {
      if (signal.aborted) return;
      fetch.failures++;
      const waitMs = retryDelay(fetch.failures);
      const from = timing.now() + waitMs;
      fetch.state = { state: 'failed', message: (error as Error).message, isPassing: isTransient(error), from };
      fetch.forget = timing.after(waitMs, () => void this.#run(key, fetch));
    }
    changed(key);
  }
}

const isSame = (asked: AskedModel, known: Facts) =>
  (Object.keys(asked) as (keyof AskedModel)[]).every((part) => known[part] === asked[part]);

function foundAgain(asked: AskedModel, facts: Facts): ModelState | null {
  const path = pathIn(String(facts.folder), asked);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return null;
  return { state: 'ready', model: { path, revision: String(facts.revision), facts } };
}
