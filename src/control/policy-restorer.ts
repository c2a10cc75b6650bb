import type { ResourceRecord } from '../store/resources/resource-record.js';
import { retryDelay } from './reconcile/queue/retry-delay.js';
import type { Timing } from './reconcile/queue/timing.js';
import type { ControlStore } from './store/control-store.js';
import { restorePolicy, SWITCHED_FROM } from './store/guarded-policy.js';

export interface PolicyRestorerOptions {
  readonly store: ControlStore;
  readonly timing: Timing;
  /** Another control plane that takes over restores what is left. */
  readonly isLeading: () => boolean;
  /** Called when an attempt fails in a new way. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Restores the former policies of endpoints whose switch nothing watches any more: the control plane before this one was killed, or lost
 * its lead. One that cannot be restored keeps no other one from it, and is tried again until none is left.
 */
export class PolicyRestorer {
  readonly #options: PolicyRestorerOptions;
  /** Switches that this process makes meanwhile: it watches them itself. */
  readonly #own = new Set<string>();
  #unwatch = () => {};
  #cancel = () => {};
  #failures = 0;
  #problem = '';
  #isClosed = false;

  constructor(options: PolicyRestorerOptions) {
    this.#options = options;
  }

  /** Resolves after the first attempt; never rejects. */
  async begin(): Promise<void> {
    this.#end();
    this.#failures = 0;
    this.#unwatch = this.#options.store.resources.watch((changes) => {
      for (const { record } of changes) if (isNewSwitch(record)) this.#own.add(switchOf(record));
    });
    await this.#attempt();
  }

  close(): void {
    this.#isClosed = true;
    this.#end();
  }

  #end(): void {
    this.#cancel();
    this.#unwatch();
    this.#own.clear();
  }

  async #attempt(): Promise<void> {
    const { isLeading, timing } = this.#options;
    const isDone = await this.#restoreAll();
    if (isDone || this.#isClosed || !isLeading()) {
      this.#end();
      return;
    }
    this.#failures++;
    this.#cancel = timing.after(retryDelay(this.#failures), () => void this.#attempt());
  }

  /** Resolves to whether none is left. */
  async #restoreAll(): Promise<boolean> {
    const { store } = this.#options;
    let isDone = true;
    try {
      for await (const record of store.resources.each('Endpoint')) {
        if (!isSwitched(record) || this.#own.has(switchOf(record))) continue;
        try {
          await restorePolicy(store, record);
        } catch (error) {
          isDone = false;
          await this.#failed(error, record);
        }
      }
    } catch (error) {
      await this.#failed(error, null);
      return false;
    }
    return isDone;
  }

  async #failed(error: unknown, record: ResourceRecord | null): Promise<void> {
    const { onFault, store } = this.#options;
    const message = `the former policy is not restored yet, trying again: ${(error as Error).message}`;
    const problem = `${record?.uid}: ${message}`;
    if (problem !== this.#problem) onFault(error);
    this.#problem = problem;
    // A store that takes no event is what keeps the policy from being restored.
    if (record !== null) await store.events.add(record, 'warning', 'PolicyNotRestored', message).catch(() => {});
  }
}

const isSwitched = ({ deletedAt, labels }: ResourceRecord) => labels[SWITCHED_FROM] !== undefined && deletedAt === null;

const switchOf = ({ labels, uid }: ResourceRecord) => `${uid}/${labels[SWITCHED_FROM]}`;

/** The generation after the one that has the former policy. */
const isNewSwitch = ({ generation, labels }: ResourceRecord) => generation === Number(labels[SWITCHED_FROM]) + 1;
