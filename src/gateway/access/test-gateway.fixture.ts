import { unreachableStore } from '../../store/database/errors.js';
import type { KeyLimits, KeyRecord } from '../../store/keys/key-record.js';
import type { Store, StoreTransaction } from '../../store/open-store.js';
import { madeKey } from './key-record.fixture.js';
import { AccessKey } from './keys/access-key.js';
import { Authority } from './limits/authority.js';
import { Ledger } from './limits/ledger.js';
import type { Refusal } from './limits/refusal.js';
import type { Reservation } from './limits/reservation.js';

/** A manual clock, shared by the store and all gateways. */
export class TestClock {
  ms = Date.parse('2026-05-20T12:00:00Z');

  pass(seconds: number): void {
    this.ms += seconds * 1000;
  }
}

/** A store that can fail before a transaction, after its commit, or by hanging until it is released. */
export class FlakyStore {
  state: 'up' | 'down' | 'forgets to answer' = 'up';
  /** Resolves when the store is released. */
  held: Promise<void> | null = null;
  transactions = 0;

  constructor(private readonly inner: Store) {}

  get kind(): Store['kind'] {
    return this.inner.kind;
  }

  get settings(): Store['settings'] {
    return this.inner.settings;
  }

  get keys(): Store['keys'] {
    return this.inner.keys;
  }

  async exclusively<Result>(work: (tx: StoreTransaction) => Promise<Result>): Promise<Result> {
    this.transactions++;
    if (this.state === 'down') throw unreachableStore('test', 'down');
    await this.held;
    const result = await this.inner.exclusively(work);
    if (this.state === 'forgets to answer') throw unreachableStore('test', 'terminated');
    return result;
  }
}

export interface Answer {
  reservation: Reservation | null;
  refusal: Refusal | null;
}

/** The part of a gateway that reserves from limits. */
export class TestGateway {
  readonly authority: Authority;
  readonly ledger: Ledger;
  readonly store: FlakyStore;
  readonly faults: unknown[] = [];
  /** The error of the last heartbeat; null when it succeeded. */
  lastFailure: unknown = null;
  #records: readonly KeyRecord[] = [];

  constructor(
    store: Store,
    readonly clock: TestClock,
    { id, dead = [], onStoreFailure = 'closed' }: { id: string; dead?: string[]; onStoreFailure?: 'closed' | 'open' },
  ) {
    this.store = new FlakyStore(store);
    const nowMs = () => this.clock.ms;
    const fault = (error: unknown) => this.faults.push(error);
    this.authority = new Authority({
      store: this.store,
      gatewayId: id,
      dead,
      nowMs,
      storeNow: async () => clock.ms,
      fault,
    });
    this.ledger = new Ledger(this.authority, { onStoreFailure, nowMs, fault });
  }

  get mode() {
    return this.authority.mode;
  }

  /** Opens the accounts of keys and joins the other gateways. */
  async start(...records: KeyRecord[]): Promise<this> {
    this.#records = records;
    await this.authority.open(records);
    await this.beat();
    return this;
  }

  /** As the gateway does it every second. */
  async beat(): Promise<void> {
    this.ledger.sweep();
    this.lastFailure = await this.authority.beat().then(
      () => null,
      (error) => error,
    );
    this.ledger.pump();
  }

  key(record = this.#records[0]!): AccessKey {
    return new AccessKey(record, this.authority.book.ofKey(record));
  }

  reserve(tokens = 1, { key = this.key(), model = 'm', nanos = 0 } = {}): Promise<Answer> {
    return new Promise((resolve) => {
      const reserved = (reservation: Reservation | null, refusal: Refusal | null) => resolve({ reservation, refusal });
      this.ledger.reserve(key, model, tokens, nanos, { reserved });
    });
  }

  /** Sends `times` requests at once. Returns how many were admitted. */
  async hammer(times: number, tokens = 1): Promise<number> {
    const responses = await Promise.all(Array.from({ length: times }, () => this.reserve(tokens)));
    return responses.filter(({ refusal }) => refusal === null).length;
  }
}

export const keyWith = (limits: KeyLimits, id = 'key000000001') => madeKey({ id, limits }).record;
