import { setTimeout as delay } from 'node:timers/promises';
import { KubeStatusError } from '../errors.js';
import type { KubeClient } from '../kube-client.js';
import type { KubeList, KubeObject } from '../kube-object.js';
import { jsonLines } from './json-lines.js';
import { ObjectCache } from './object-cache.js';

export interface ListWatchParts {
  readonly client: KubeClient;
  /** Of the collection: `/api/v1/namespaces/default/pods`. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly timing?: Partial<WatchTiming>;
  /** 0 to 1, for jitter. */
  readonly random?: () => number;
  /** An object has changed, or the problem has. */
  readonly changed: () => void;
}

export interface WatchTiming {
  /** How long the API server keeps a watch open. */
  readonly watchSeconds: number;
  /** Bookmarks come about every minute: a watch that is silent for longer is dead, whatever TCP says. */
  readonly silenceMs: number;
  /** A complete list this often, against anything a watch may have missed. */
  readonly relistMs: number;
  readonly leastPauseMs: number;
  readonly mostPauseMs: number;
}

export const WATCH_TIMING: WatchTiming = {
  watchSeconds: 300,
  silenceMs: 90_000,
  relistMs: 720_000,
  leastPauseMs: 250,
  mostPauseMs: 10_000,
};

const PAGE = 500;
const GONE = 410;

interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T & { readonly code?: number; readonly message?: string; readonly reason?: string };
}

/**
 * Follows all objects of one kind: a list, then a watch from its version, for as long as it is open. Whatever goes wrong, it
 * goes on: what was seen last stays, and `problem` says what is wrong.
 */
export class ListWatch<T extends KubeObject> {
  readonly cache = new ObjectCache<T>();
  /** Resolves after the first complete list. */
  readonly synced: Promise<void>;
  /** Why the objects may be out of date; null while they are followed. */
  problem: string | null = null;
  readonly #parts: ListWatchParts;
  readonly #timing: WatchTiming;
  readonly #random: () => number;
  readonly #closed = new AbortController();
  readonly #loop: Promise<void>;
  #isSynced!: () => void;
  /** Where the next watch begins; null: with a list. */
  #version: string | null = null;
  #listedMs = 0;
  #failures = 0;

  constructor(parts: ListWatchParts) {
    this.#parts = parts;
    this.#timing = { ...WATCH_TIMING, ...parts.timing };
    this.#random = parts.random ?? Math.random;
    this.synced = new Promise((resolve) => {
      this.#isSynced = resolve;
    });
    this.#loop = this.#run();
  }

  /** Whether there has been a complete list. */
  get isListed(): boolean {
    return this.#listedMs > 0;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      try {
        if (this.#version === null || Date.now() - this.#listedMs >= this.#timing.relistMs) await this.#list();
        await this.#watch();
        // Watches that end at once must not become a storm of calls.
        await this.#pause(this.#timing.leastPauseMs);
      } catch (error) {
        if (signal.aborted) return;
        const wait = this.#failed(error);
        await this.#pause(wait);
      }
    }
  }

  async #list(): Promise<void> {
    const { client, fieldSelector, labelSelector, path } = this.#parts;
    const objects: T[] = [];
    let next = '';
    let version = '';
    do {
      const query = {
        limit: PAGE,
        continue: next,
        labelSelector: labelSelector ?? null,
        fieldSelector: fieldSelector ?? null,
      };
      const page: KubeList<T> = await client.json(path, { query, signal: this.#closed.signal });
      objects.push(...(page.items ?? []));
      version = page.metadata.resourceVersion ?? '';
      next = page.metadata.continue ?? '';
    } while (next !== '');
    this.#version = version;
    this.#listedMs = Date.now();
    const hasChanged = this.cache.replace(objects);
    this.#isSynced();
    this.#worked(hasChanged);
  }

  async #watch(): Promise<void> {
    const { client, fieldSelector, labelSelector, path } = this.#parts;
    const { silenceMs, watchSeconds } = this.#timing;
    const silence = new AbortController();
    const watchdog = setTimeout(() => silence.abort(new Error(`no event for ${silenceMs} ms`)), silenceMs);
    try {
      const chunks = await client.bytes(path, {
        query: {
          watch: true,
          allowWatchBookmarks: true,
          resourceVersion: this.#version,
          timeoutSeconds: Math.ceil(watchSeconds * (0.8 + 0.4 * this.#random())),
          labelSelector: labelSelector ?? null,
          fieldSelector: fieldSelector ?? null,
        },
        signal: AbortSignal.any([this.#closed.signal, silence.signal]),
      });
      this.#worked(false);
      for await (const event of jsonLines<WatchEvent<T>>(chunks)) {
        watchdog.refresh();
        this.#apply(event);
        if (Date.now() - this.#listedMs >= this.#timing.relistMs) return;
      }
    } catch (error) {
      if (silence.signal.aborted && !this.#closed.signal.aborted) throw silence.signal.reason;
      throw error;
    } finally {
      clearTimeout(watchdog);
      silence.abort();
    }
  }

  #apply({ object, type }: WatchEvent<T>): void {
    if (type === 'ERROR')
      throw new KubeStatusError(object.code ?? 500, object.reason ?? '', object.message ?? 'failed');
    const hasChanged = type === 'DELETED' ? this.cache.delete(object) : type !== 'BOOKMARK' && this.cache.set(object);
    this.#version = object.metadata.resourceVersion ?? this.#version;
    this.#worked(hasChanged);
  }

  #worked(hasChanged: boolean): void {
    this.#failures = 0;
    if (!hasChanged && this.problem === null) return;
    this.problem = null;
    this.#parts.changed();
  }

  /** Returns how long to wait. Versions that the API server no longer has are answered by a list, soon. */
  #failed(error: unknown): number {
    const { leastPauseMs, mostPauseMs } = this.#timing;
    const status = error instanceof KubeStatusError ? error.status : 0;
    if (status === GONE) this.#version = null;
    const jitter = 0.5 + this.#random();
    const doubled = leastPauseMs * 2 ** Math.min(this.#failures++, 16);
    const asked = error instanceof KubeStatusError && error.retryAfterS !== null ? 1000 * error.retryAfterS : 0;
    // One failure of a watch is most often the end of a connection: what follows it decides whether there is a problem.
    if (status !== GONE && (this.#failures > 1 || this.#listedMs === 0)) this.#report((error as Error).message);
    return Math.max(asked, Math.min(mostPauseMs, doubled) * jitter, leastPauseMs);
  }

  #report(problem: string): void {
    if (this.problem === problem) return;
    this.problem = problem;
    this.#parts.changed();
  }

  /** Ends early when it is closed. */
  #pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#closed.signal }).catch(() => {});
  }
}
