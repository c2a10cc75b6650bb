import { isStoreFailure } from '../../../store/database/errors.js';
import type { KeyRecord } from '../../../store/keys/key-record.js';
import type { Store, StoreTransaction } from '../../../store/open-store.js';
import {
  clockOf,
  type GatewayMode,
  type GatewayRow,
  listGateways,
  removeGateways,
  saveGateway,
} from '../../../store/quota/gateways.js';
import type { Account } from '../account/account.js';
import { AccountBook, type BookMoment } from '../account/account-book.js';
import { cannotCount } from './errors.js';
import { DEAD_MS, HEARTBEAT_MS, LEASE_MS, nextMode } from './next-mode.js';

/** Accounts written per heartbeat: a crash loses a second of bookings, and no heartbeat takes long. */
const SAVED_PER_BEAT = 200;

export interface AuthorityOptions {
  store: Pick<Store, 'exclusively' | 'kind'>;
  gatewayId: string;
  /** Gateways that are known to have ended: their leases need not expire first. */
  dead?: readonly string[];
  /** Monotonic milliseconds since 1970. */
  nowMs: () => number;
  /** The store's clock; set by tests. */
  storeNow?: (tx: StoreTransaction) => Promise<number>;
  /** Called with unexpected errors. */
  fault?: (error: unknown) => void;
}

/** The other gateways that a transaction saw. */
interface Company {
  /** This gateway's row; undefined when the others considered it dead. */
  own: GatewayRow | undefined;
  /** The live gateways. */
  others: readonly GatewayRow[];
}

/**
 * Where the accounts are kept: in the memory of a single gateway, or in the store for several. Decided with every
 * heartbeat.
 */
export class Authority {
  readonly book: AccountBook;
  /** Transactions that failed. */
  storeFailures = 0;
  #mode: GatewayMode = 'joining';
  readonly #store: AuthorityOptions['store'];
  readonly #gatewayId: string;
  readonly #dead: readonly string[];
  readonly #nowMs: () => number;
  readonly #storeNow: (tx: StoreTransaction) => Promise<number>;
  readonly #fault: (error: unknown) => void;
  /** Store operations are serialised. */
  #last: Promise<unknown> = Promise.resolve();
  /** Offset from the gateway's clock to the store's. */
  #offsetMs = 0;
  #leaseUntilMs = 0;
  #startedAt = 0;
  #aloneSince: number | null = null;
  /**
   * The accounts are being written from memory to the store: they must not change, and it is not known yet whether they
   * arrived.
   */
  #isHanding = false;
  /** Memory may have bookings that the store does not have. */
  #hasOwn = false;

  constructor({ store, gatewayId, dead, nowMs, storeNow, fault }: AuthorityOptions) {
    this.book = new AccountBook(gatewayId);
    this.#store = store;
    this.#gatewayId = gatewayId;
    this.#dead = dead ?? [];
    this.#nowMs = nowMs;
    this.#storeNow = storeNow ?? ((tx) => clockOf(tx, store.kind));
    this.#fault = fault ?? (() => {});
  }

  get mode(): GatewayMode {
    return this.#mode;
  }

  /** Whether memory holds the accounts and may change them. */
  get isLocal(): boolean {
    return this.#mode === 'local' && !this.#isHanding;
  }

  /** Whether memory may be trusted: no other gateway can have taken over. */
  hasLease(nowMs: number): boolean {
    return nowMs < this.#leaseUntilMs;
  }

  /** The store's time, as far as this gateway knows it. */
  storeTime(nowMs: number): number {
    return nowMs + this.#offsetMs;
  }

  /** Records that this gateway is alive, and decides where the accounts are kept. Rejects when the store fails. */
  beat(): Promise<void> {
    return this.serially(async () => {
      const startedMs = this.#nowMs();
      const mode = await this.#transaction((moment, company) => this.#settle(moment, company));
      this.#leaseUntilMs = startedMs + LEASE_MS;
      this.#isHanding = false;
      if (mode === 'local') this.#hasOwn = true;
      else if (mode === 'shared') {
        this.#hasOwn = false;
        this.book.leaveToStore();
      }
      this.#mode = mode;
    });
  }

  async #settle(moment: BookMoment, { others, own }: Company): Promise<GatewayMode> {
    const { now, tx } = moment;
    // From here on memory is not changed: another gateway may keep the accounts by now.
    if (own === undefined) this.#mode = 'joining';
    if (this.#startedAt === 0) this.#startedAt = now;
    if (others.length > 0) this.#aloneSince = null;
    else this.#aloneSince ??= now;
    const aloneMs = now - (this.#aloneSince ?? now);
    const next = nextMode({ mode: this.#mode, isKnown: own !== undefined, others, aloneMs });
    await this.#change(moment, next, own);
    await saveGateway(tx, { id: this.#gatewayId, startedAt: this.#startedAt, seenAt: now, mode: next });
    return next;
  }

  /** Moves the accounts to where they are kept next. */
  async #change(moment: BookMoment, next: GatewayMode, own: GatewayRow | undefined): Promise<void> {
    const before = this.#mode;
    if (next === 'joining' || (before === 'shared' && next === 'shared')) return;
    if (before !== 'local') {
      await this.book.takeUp(moment, this.#hasOwn);
      if (next === 'shared') await this.book.save(moment);
    } else if (next === 'local') {
      await this.book.save(moment, SAVED_PER_BEAT);
    } else if (own!.mode === 'local') {
      // If it is 'shared' already, an earlier attempt was committed although its reply got lost.
      this.#isHanding = true;
      await this.book.save(moment);
    }
  }

  /**
   * Opens the accounts that keys need. When it resolves, they hold what was used before.
   * @param isAll there are no other keys: their accounts are forgotten
   * @param removed ids of keys that no longer exist
   */
  open(records: readonly KeyRecord[], isAll = true, removed: readonly string[] = []): Promise<void> {
    return this.serially(async () => {
      const added = this.book.open(records, isAll, removed);
      // A joining gateway loads all of them when it has joined.
      if (added.length === 0 || this.#mode === 'joining') return;
      try {
        await this.#transaction(async (moment) => {
          await this.book.takeUp(moment, false, added);
          if (this.#mode === 'shared') await this.book.save(moment);
        });
      } catch (error) {
        this.book.forget(added);
        throw error;
      }
    });
  }

  /**
   * Changes accounts in the store. False if nothing was changed because the others considered this gateway dead: it has
   * to join again first.
   */
  inStore(work: (moment: BookMoment) => Promise<void>): Promise<boolean> {
    return this.#transaction(async (moment, { own }) => {
      if (own === undefined) {
        this.#mode = 'joining';
        return false;
      }
      await work(moment);
      if (moment.now - own.seenAt >= HEARTBEAT_MS) await saveGateway(moment.tx, { ...own, seenAt: moment.now });
      return true;
    });
  }

  /**
   * Refreshes accounts from where they are kept. Returns the time of that state by the store's clock. Rejects while the
   * store fails or the accounts are being handed over.
   */
  async look(accounts: readonly Account[]): Promise<number> {
    const nowMs = this.#nowMs();
    let atMs = this.storeTime(nowMs);
    if (!(this.isLocal && this.hasLease(nowMs))) {
      const isSeen = await this.serially(async () => {
        // The state in memory must not be replaced by an older one of the store.
        if (this.#mode !== 'shared') return false;
        return this.inStore(async (moment) => {
          await this.book.load(moment, accounts);
          atMs = moment.now;
        });
      });
      if (!isSeen) throw cannotCount();
    }
    for (const account of accounts) account.advance(Math.floor(atMs / 1000));
    return atMs;
  }

  /** Hands everything to the store and leaves. */
  async leave(): Promise<void> {
    await this.serially(() =>
      this.#transaction(async (moment, { own }) => {
        if (own !== undefined && this.#mode === 'local') await this.book.save(moment);
        await removeGateways(moment.tx, [this.#gatewayId]);
      }),
    );
    this.#mode = 'joining';
  }

  serially<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  /** An exclusive transaction that knows the other live gateways. Removes gateways without a recent heartbeat. */
  async #transaction<Result>(work: (moment: BookMoment, company: Company) => Promise<Result>): Promise<Result> {
    let isCommitted = false;
    try {
      const result = await this.#store.exclusively(async (tx) => {
        const now = await this.#storeNow(tx);
        this.#offsetMs = now - this.#nowMs();
        const rows = await listGateways(tx);
        const own = rows.find(({ id }) => id === this.#gatewayId);
        const others = rows.filter((row) => row !== own && now - row.seenAt < DEAD_MS && !this.#dead.includes(row.id));
        const dead = rows.filter((row) => row !== own && !others.includes(row));
        await removeGateways(
          tx,
          dead.map(({ id }) => id),
        );
        const isAlive = (gateway: string) => others.some(({ id }) => id === gateway);
        return work({ tx, now, isAlive }, { own, others });
        // Windows of a minute do not outlive a power cut anyway, and budgets are restored from recorded usage.
      }, 'past-crashes');
      isCommitted = true;
      return result;
    } catch (error) {
      this.storeFailures++;
      if (!isStoreFailure(error)) this.#fault(error);
      throw error;
    } finally {
      this.book.committed(isCommitted);
    }
  }
}
