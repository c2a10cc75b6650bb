import type { ResourceChange } from '../store/resources/resource-record.js';
import type { Resources } from '../store/resources/resources.js';
import { isSeen } from '../store/resources/seen-workspaces.js';

export interface FeedFilter {
  readonly kind?: string;
  readonly workspace?: string;
  readonly name?: string;
  /** Only what a caller sees which sees these workspaces. */
  readonly workspaces?: readonly string[];
}

/**
 * `bookmark`: no matching change up to this version. `gone`: changes after the given version are not kept any more;
 * list again, and follow from there.
 */
export type FeedItem =
  | { readonly type: 'change'; readonly version: number; readonly change: ResourceChange }
  | { readonly type: 'bookmark' | 'gone'; readonly version: number };

const CAPACITY = 2000;

/**
 * The last changes of this process, for followers. A slow follower holds nothing in memory: changes that it has missed
 * are dropped, and it gets an item that reports the gap.
 */
export class ChangeFeed {
  readonly #changes: ResourceChange[] = [];
  /** Changes after this version are kept. */
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
    // Watches before it reads the version, so that no change in between is missed.
    const feed = new ChangeFeed(resources, capacity);
    const version = await resources.version();
    const first = feed.#changes[0];
    feed.#from = Math.max(feed.#from, first === undefined ? version : first.version - 1);
    feed.#version = Math.max(feed.#version, version);
    return feed;
  }

  /** The version of the last change. A list that is read afterwards includes it. */
  get version(): number {
    return this.#version;
  }

  /** Changes after a version, until the signal, `close` or `gone`. */
  async *follow(since: number, filter: FeedFilter, signal: AbortSignal): AsyncGenerator<FeedItem> {
    let seen = since;
    let reported = since;
    while (!signal.aborted) {
      if (seen < this.#from || seen > this.#version) {
        yield { type: 'gone', version: this.#version };
        return;
      }
      const next = this.#changes[this.#indexAfter(seen)];
      if (next === undefined) {
        seen = this.#version;
        // Rare enough to cost little, and frequent enough to resume from after a pause.
        if (seen - reported >= this.capacity / 4) {
          reported = seen;
          yield { type: 'bookmark', version: seen };
        } else if (!(await this.#more(signal))) return;
        continue;
      }
      seen = next.version;
      if (!matches(next, filter)) continue;
      reported = seen;
      yield { type: 'change', version: seen, change: next };
    }
  }

  /** Of the first change after a version: changes are in the order of their versions. */
  #indexAfter(version: number): number {
    let [low, high] = [0, this.#changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#changes[middle]!.version > version) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Ends all followers. */
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

  /** Resolves at the next change; false when the feed is closed. */
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

function matches({ record }: ResourceChange, { kind, name, workspace, workspaces }: FeedFilter): boolean {
  return (
    (kind === undefined || record.kind === kind) &&
    (workspace === undefined || record.workspace === workspace) &&
    (name === undefined || record.name === name) &&
    isSeen(record, workspaces)
  );
}
