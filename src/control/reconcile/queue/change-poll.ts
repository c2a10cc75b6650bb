import type { ResourceChange, ResourceRecord, ResourceRef } from '../../../store/resources/resource-record.js';
import type { Resources } from '../../../store/resources/resources.js';
import { keyRef, refKey } from './ref-key.js';
import type { Timing } from './timing.js';

/** How soon changes of other processes are seen. */
const POLL_MS = 500;

export interface ChangePollOptions {
  readonly resources: Pick<Resources, 'changedSince' | 'count' | 'eachRef' | 'version'>;
  readonly timing: Timing;
  /** Changes of these kinds are reported. */
  readonly changing: readonly string[];
  /** Removals of these kinds are reported. */
  readonly kinds: readonly string[];
  /** @param isStatus nothing else has changed */
  readonly changed: (record: ResourceRecord, isStatus: boolean) => void;
  readonly removed: (ref: ResourceRef) => void;
}

/**
 * Changes that other processes make in the store. Changes of this process, which are known already, are left out. Versions are
 * assigned under the store's lock, so no change with a lower version appears later.
 */
export class ChangePoll {
  readonly #options: ChangePollOptions;
  /** Versions of this process's changes since the last poll. */
  readonly #own = new Set<number>();
  /** The resources of `kinds`. */
  readonly #present = new Set<string>();
  #version = 0;
  #cancel: () => void = () => {};
  #isClosed = false;

  constructor(options: ChangePollOptions) {
    this.#options = options;
  }

  /** @param present all resources, as read after `version` */
  start(version: number, present: readonly ResourceRef[]): void {
    this.#version = version;
    for (const ref of present) if (this.#options.kinds.includes(ref.kind)) this.#present.add(refKey(ref));
    this.#later();
  }

  /** A change of this process. */
  own({ record, type, version }: ResourceChange): void {
    this.#own.add(version);
    if (type === 'removed') this.#present.delete(refKey(record));
    else if (this.#options.kinds.includes(record.kind)) this.#present.add(refKey(record));
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #later(): void {
    if (this.#isClosed) return;
    // A store that cannot be read is read again later.
    const poll = () =>
      this.#poll().then(
        () => this.#later(),
        () => this.#later(),
      );
    this.#cancel = this.#options.timing.after(POLL_MS, poll);
  }

  async #poll(): Promise<void> {
    const { changed, changing, kinds, resources } = this.#options;
    const version = await resources.version();
    if (version === this.#version) return;
    const since = this.#version;
    if (this.#isAllOwn(since, version)) {
      this.#seen(version);
      return;
    }
    let last = version;
    for await (const record of resources.changedSince(since, changing)) {
      if (this.#isClosed) return;
      last = Math.max(last, record.resourceVersion);
      if (kinds.includes(record.kind)) this.#present.add(refKey(record));
      const isStatus = record.specVersion <= since || this.#own.has(record.specVersion);
      if (!isStatus || !this.#own.has(record.resourceVersion)) changed(record, isStatus);
    }
    this.#seen(last);
    if ((await resources.count(kinds)) !== this.#present.size) await this.#findRemoved();
  }

  #seen(version: number): void {
    this.#version = version;
    for (const one of this.#own) if (one <= version) this.#own.delete(one);
  }

  /** Whether this process has made every change between two versions. */
  #isAllOwn(since: number, version: number): boolean {
    for (let one = since + 1; one <= version; one++) if (!this.#own.has(one)) return false;
    return true;
  }

  async #findRemoved(): Promise<void> {
    const { kinds, removed, resources } = this.#options;
    const before = [...this.#present];
    const left = new Set<string>();
    for await (const ref of resources.eachRef(kinds)) left.add(refKey(ref));
    for (const key of before) {
      if (left.has(key) || !this.#present.delete(key)) continue;
      removed(keyRef(key));
    }
  }
}
