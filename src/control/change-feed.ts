import type { ResourceChange } from '../store/resources/resource-record.js';
import type { Resources } from '../store/resources/resources.js';

export interface FeedFilter {
  readonly kind?: string;
  readonly workspace?: string;
  readonly name?: string;
}

/**
 * `bookmark`: nothing that was asked for has happened up to this version. `gone`: what came after the given version is no
 * longer remembered; list again, and go on from there.
 */
export type FeedItem =
  | { readonly type: 'change'; readonly version: number; readonly change: ResourceChange }
  | { readonly type: 'bookmark' | 'gone'; readonly version: number };

const CAPACITY = 2000;

/**
 * The last changes of this process, for those who follow them. Whoever is slow does not keep anything in memory: what he has
 * missed is gone, and he is told so.
 */
export class ChangeFeed {
  readonly #changes: ResourceChange[] = [];
  /** All changes after this version are known, or were never made. */
  #from = 0;
  #version = 0;
  #waiting: (() => void)[] = [];
  #isClosed = false;
  readonly #stop: () => void;

  private constructor(
    resources: Pick<Resources, 'watch'>,
    private readonly capacity: number,
  ) {
    this.#stop = resources.watch((changes) => this.#add(changes));
  }

  static async open(resources: Pick<Resources, 'watch' | 'version'>, capacity = CAPACITY): Promise<ChangeFeed> {
    // Listens before it asks: what happens meanwhile is heard.
    const feed = new ChangeFeed(resources, capacity);
    const version = await resources.version();
    const first = feed.#changes[0];
    feed.#from = Math.max(feed.#from, first === undefined ? version : first.version - 1);
    feed.#version = Math.max(feed.#version, version);
    return feed;
  }

  /** Of the last change. A list that is read after this was asked for has it. */
  get version(): number {
    return this.#version;
  }

  /** What happens after a version, and goes on until the signal or `close`, or until it is gone. */
  async *follow(since: number, filter: FeedFilter, signal: AbortSignal): AsyncGenerator<FeedItem> {
    let seen = since;
    let told = since;
    while (!signal.aborted) {
      if (seen < this.#from || seen > this.#version) {
        yield { type: 'gone', version: this.#version };
        return;
      }
      const next = this.#changes.find(({ version }) => version > seen);
      if (next === undefined) {
        seen = this.#version;
        // Rarely enough to be no burden, and often enough to go on from after a pause.
        if (seen - told >= this.capacity / 4) {
          told = seen;
          yield { type: 'bookmark', version: seen };
        } else if (!(await this.#more(signal))) return;
        continue;
      }
      seen = next.version;
      if (!matches(next, filter)) continue;
      told = seen;
      yield { type: 'change', version: seen, change: next };
    }
  }

  /** Ends all who follow. */
  close(): void {
    this.#stop();
    this.#isClosed = true;
    this.#wake();
  }

  #add(changes: readonly ResourceChange[]): void {
    this.#changes.push(...changes);
    this.#version = changes.at(-1)!.version;
    const over = this.#changes.length - this.capacity;
    if (over > 0) this.#from = this.#changes.splice(0, over).at(-1)!.version;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves when something has happened: false if it is the end. */
  async #more(signal: AbortSignal): Promise<boolean> {
    if (this.#isClosed) return false;
    await new Promise<void>((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake);
        this.#waiting = this.#waiting.filter((one) => one !== wake);
        resolve();
      };
      signal.addEventListener('abort', wake);
      this.#waiting.push(wake);
    });
    return !this.#isClosed;
  }
}

function matches({ record }: ResourceChange, { kind, name, workspace }: FeedFilter): boolean {
  return (
    (kind === undefined || record.kind === kind) &&
    (workspace === undefined || record.workspace === workspace) &&
    (name === undefined || record.name === name)
  );
}
