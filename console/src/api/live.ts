import { useSyncExternalStore } from 'react';
import { withQuery } from './client';
import type { Replica, Traffic } from './types';
import { whileInView } from './while-in-view';

/** Whether the page follows the gateway. `paused`: the visitor has stopped it. */
export type LiveState = 'connecting' | 'live' | 'paused' | 'lost';

export interface Snapshot {
  readonly state: LiveState;
  readonly replicas: ReadonlyMap<string, Replica>;
  readonly traffic: Traffic | null;
  /** Grows with every change of resources, events or policies: queries that show them read again. */
  readonly changes: number;
}

export interface LiveTopics {
  readonly hasStore: boolean;
  readonly isGlobal: boolean;
  /** Only of this workspace. */
  readonly workspace: string | undefined;
}

const EMPTY: Snapshot = { state: 'connecting', replicas: new Map(), traffic: null, changes: 0 };
/** Changes within this time are shown together. */
const FLUSH_MS = 200;
/** A stream that is silent for longer is dead: the server sends a sign of life every 15 s. */
const SILENT_MS = 40_000;
const RETRY_MS = 2000;

export const replicaKey = (one: Pick<Replica, 'workspace' | 'endpoint' | 'id'>) =>
  `${one.workspace}/${one.endpoint}/${one.id}`;

/** Follows the event stream of the API and keeps the present state; opens again when the connection is lost. */
class LiveStore {
  #snapshot = EMPTY;
  #draft: { replicas?: Map<string, Replica>; traffic?: Traffic; changes?: number } | null = null;
  #source: EventSource | null = null;
  #retry: number | undefined;
  #watchdog: number | undefined;
  #topics: LiveTopics | null = null;
  #leave: () => void = () => {};
  readonly #listeners = new Set<() => void>();
  /** Called when the connection is lost, and with every attempt that fails: the session may have ended. */
  onLost: () => void = () => {};

  readonly get = () => this.#snapshot;

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  /** @param topics null for a visitor who may follow nothing: its pages are read again from time to time */
  start(topics: LiveTopics | null): void {
    if (JSON.stringify(topics) !== JSON.stringify(this.#topics)) this.#set(EMPTY);
    this.#topics = topics;
    this.#leave = whileInView(() => {
      if (this.#snapshot.state !== 'paused') this.#open();
      return () => this.#close();
    });
  }

  /** What is known stays in view. */
  stop(): void {
    this.#leave();
    if (this.#snapshot.state !== 'paused') this.#set({ ...this.#snapshot, state: 'connecting' });
  }

  pause(): void {
    this.#close();
    this.#set({ ...this.#snapshot, state: 'paused' });
  }

  resume(): void {
    this.#open();
  }

  /** Where there is no stream, queries tell whether the gateway can be reached. */
  reached(isReached: boolean): void {
    const { changes, state } = this.#snapshot;
    if (this.#topics !== null || state === 'paused') return;
    if (!isReached && state !== 'lost') this.#lost();
    if (isReached && state === 'lost') {
      this.#close();
      this.#set({ ...this.#snapshot, state: 'live', changes: changes + 1 });
    }
  }

  #open(): void {
    this.#close();
    const topics = this.#topics;
    if (topics === null) {
      this.#set({ ...this.#snapshot, state: 'live' });
      return;
    }
    if (this.#snapshot.state !== 'lost') this.#set({ ...this.#snapshot, state: 'connecting' });
    const names = ['replicas', 'traffic'];
    if (topics.isGlobal) names.push('gateway');
    if (topics.hasStore) names.push('events');
    const { workspace } = topics;
    const source = new EventSource(`/api/v1/${withQuery('watch', { topics: names.join(','), workspace })}`);
    this.#source = source;
    let isFirst = true;
    source.onopen = () => {
      this.#alive();
      // What left meanwhile is not listed again.
      this.#set({ ...this.#snapshot, state: 'live', replicas: new Map(), changes: this.#snapshot.changes + 1 });
    };
    source.onerror = () => this.#lost();
    source.addEventListener('replica', (event) => {
      const { replica, type } = JSON.parse(event.data) as { type: string; replica: Replica };
      const draft = this.#begin();
      draft.replicas ??= new Map(isFirst ? [] : this.#snapshot.replicas);
      isFirst = false;
      if (type === 'removed') draft.replicas.delete(replicaKey(replica));
      else draft.replicas.set(replicaKey(replica), replica);
    });
    source.addEventListener('traffic', (event) => {
      this.#begin().traffic = JSON.parse(event.data) as Traffic;
    });
    const changed = () => {
      const draft = this.#begin();
      draft.changes = this.#snapshot.changes + 1;
    };
    source.addEventListener('gateway', changed);
    source.addEventListener('event', changed);
  }

  #lost(): void {
    this.#close();
    this.#set({ ...this.#snapshot, state: 'lost' });
    this.onLost();
    this.#retry = window.setTimeout(() => (this.#topics === null ? this.#lost() : this.#open()), RETRY_MS);
  }

  #close(): void {
    this.#source?.close();
    this.#source = null;
    window.clearTimeout(this.#retry);
    window.clearTimeout(this.#watchdog);
  }

  #alive(): void {
    window.clearTimeout(this.#watchdog);
    this.#watchdog = window.setTimeout(() => this.#lost(), SILENT_MS);
  }

  #begin() {
    this.#alive();
    if (this.#draft === null) {
      this.#draft = {};
      window.setTimeout(() => {
        const draft = this.#draft!;
        this.#draft = null;
        if (this.#snapshot.state !== 'paused') this.#set({ ...this.#snapshot, ...draft });
      }, FLUSH_MS);
    }
    return this.#draft;
  }

  #set(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    for (const listener of this.#listeners) listener();
  }
}

export const live = new LiveStore();

export function useLive<Value>(select: (snapshot: Snapshot) => Value): Value {
  return useSyncExternalStore(live.subscribe, () => select(live.get()));
}
