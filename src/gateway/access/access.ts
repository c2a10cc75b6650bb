import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiError } from '../../protocol/errors.js';
import { type KeyRecord, subjectWorkspace } from '../../store/keys/key-record.js';
import { KEY_PREFIX } from '../../store/keys/key-secret.js';
import type { AccessConfig, Price } from '../config/gateway-config.js';
import type { JwtConfig } from '../config/jwt-schema.js';
import type { AccessCounts, AccessOptions } from './access-parts.js';
import { TOKENS_BUSY } from './errors.js';
import { AccessKey } from './keys/access-key.js';
import { KeyRing, keyText } from './keys/key-ring.js';
import { Authority } from './limits/authority.js';
import { EarlyCheck } from './limits/early-check.js';
import { Ledger } from './limits/ledger.js';
import { type LimitsView, limitsView } from './limits/limits-view.js';
import { HEARTBEAT_MS } from './limits/next-mode.js';
import type { Reservation, Reserving } from './limits/reservation.js';
import { Prices, type UsedTokens } from './prices.js';
import type { TokenRing } from './tokens/token-ring.js';

/** How often a joining gateway checks whether the others have handed over. */
const JOIN_PAUSE_MS = 100;
const SWEEP_MS = 60_000;
/** A live gateway hands over within a heartbeat; after this many checks it is probably dead. */
const LONG_JOIN = 20;
const JOIN_TAKES_LONG =
  'another gateway holds the accounts of limits and does not respond: starting when its lease of 10 seconds has expired';

/** Checks API keys, model permissions and limits. */
export class Access {
  /** Whether requests without a key are served. */
  readonly isOptional: boolean;
  readonly #ring: KeyRing;
  readonly #authority: Authority;
  readonly #ledger: Ledger;
  readonly #early: EarlyCheck;
  readonly #nowMs: () => number;
  readonly #warn: (message: string) => void;
  readonly #pause: (ms: number) => Promise<unknown>;
  readonly #unpriced = new Set<string>();
  #prices: Prices;
  #config: AccessConfig;
  #timers: NodeJS.Timeout[] = [];
  #tokens: TokenRing | null = null;
  /** Subjects whose accounts are being opened. */
  #preparing = 0;
  #sweptMs = 0;
  #isBeating = false;
  #isRefreshing = false;
  #refreshFailures = 0;

  /** Resolves when requests may be admitted: the keys are loaded, and no other gateway keeps accounts in its memory. */
  static async open(options: AccessOptions): Promise<Access> {
    const access = new Access(options);
    const { config, nowMs } = options;
    if (config.jwt !== undefined) await access.#takeTokens(config.jwt, nowMs);
    await access.refresh();
    await access.#join();
    access.#watch();
    return access;
  }

  private constructor(options: AccessOptions) {
    const { store, config, prices, nowMs, warn, fault, storeNow, pause } = options;
    const { gatewayId = randomUUID(), deadGateways: dead = [] } = options;
    const heard = fault ?? (() => {});
    this.#nowMs = nowMs;
    this.#warn = warn ?? (() => {});
    this.#pause = pause ?? sleep;
    this.#config = config;
    this.isOptional = config.keys === 'optional';
    this.#prices = new Prices(prices);
    this.#authority = new Authority({ store, gatewayId, dead, nowMs, storeNow, fault: heard });
    this.#ledger = new Ledger(this.#authority, { onStoreFailure: config.onStoreFailure, nowMs, fault: heard });
    this.#early = new EarlyCheck(this.#authority, { limited: this.#ledger.limited, nowMs, fault: heard });
    this.#ring = new KeyRing(store.keys, config.wrongKeysPerMinute, async ({ isAll, keys, removed }) => {
      await this.#authority.open(keys, isAll, removed);
      // The accounts of their subjects are closed.
      if (isAll) this.#tokens?.clear();
      return keys.map((record) => new AccessKey(record, this.#authority.book.ofKey(record)));
    });
  }

  /** Loaded on demand: few gateways take tokens. */
  async #takeTokens(config: JwtConfig, nowMs: () => number): Promise<void> {
    const { TokenRing } = await import('./tokens/token-ring.js');
    const prepare = async (record: KeyRecord) => {
      this.#preparing++;
      try {
        if (Object.keys(record.limits).length > 0) await this.#authority.open([record], false);
        return new AccessKey(record, this.#authority.book.ofKey(record));
      } finally {
        this.#preparing--;
      }
    };
    this.#tokens = new TokenRing({ config, nowMs, prepare });
  }

  /** Whether tokens of an issuer are accepted. */
  get takesTokens(): boolean {
    return this.#tokens !== null;
  }

  /**
   * Verifies the token in these headers, if it is one that is not known: `check` knows it when this resolves. Null where
   * `check` can be called at once.
   */
  resolve(authorization: string | undefined, apiKey: string | undefined): Promise<void> | null {
    if (this.#tokens === null) return null;
    const token = keyText(authorization, apiKey);
    return this.#tokens.isToken(token) && this.#tokens.known(token) === null ? this.#tokens.verify(token) : null;
  }

  /**
   * Whether these headers have a key of the store or a token. Clients that want a key send a made-up one to a gateway that wants
   * none.
   */
  isMeant(authorization: string | undefined, apiKey: string | undefined): boolean {
    const text = keyText(authorization, apiKey);
    return text.startsWith(KEY_PREFIX) || (this.#tokens?.isToken(text) ?? false);
  }

  /** The key of these headers, or why the request is refused. */
  check(authorization: string | undefined, apiKey: string | undefined, address: string): AccessKey | ApiError {
    if (this.#tokens !== null) {
      const token = keyText(authorization, apiKey);
      if (this.#tokens.isToken(token)) return this.#checkToken(this.#tokens, token, address);
    }
    return this.#ring.check(authorization, apiKey, address, this.#nowMs());
  }

  /**
   * Checks, before the body of a request is read, whether the limits of its key for all models refuse it whatever it
   * is. `done` is called once, perhaps before this returns: with the refusal, or with null to go on.
   */
  checkEarly(key: AccessKey, done: (refusal: ApiError | null) => void): void {
    if (key.any === null) done(null);
    else this.#early.check(key.any, done);
  }

  #checkToken(tokens: TokenRing, token: string, address: string): AccessKey | ApiError {
    const found = tokens.known(token) ?? TOKENS_BUSY;
    return found instanceof AccessKey || found.status !== 401
      ? found
      : this.#ring.refuse(address, this.#nowMs(), found);
  }

  /**
   * Books what a request will probably use, before it is served. The waiter is called, perhaps before this returns.
   * @param outputTokens its limit for the response; null without one
   */
  reserve(key: AccessKey, model: string, inputTokens: number, outputTokens: number | null, waiter: Reserving): void {
    const output = outputTokens ?? this.#config.defaultOutputTokens;
    const nanos = this.#prices.nanos(model, inputTokens, 0, output);
    if (nanos === 0 && key.limitsMoney(model)) this.#warnUnpriced(model);
    this.#ledger.reserve(key, model, inputTokens + output, nanos, waiter);
  }

  /** Books the actual usage of a request. The reservation must not be used afterwards. */
  settle(reservation: Reservation, { cachedTokens, inputTokens, outputTokens }: UsedTokens): void {
    const nanos = this.#prices.nanos(reservation.model, inputTokens, cachedTokens, outputTokens);
    this.#ledger.settle(reservation, inputTokens + outputTokens, nanos);
  }

  /** The request was refused or not served. The reservation must not be used afterwards. */
  refund(reservation: Reservation): void {
    this.#ledger.refund(reservation);
  }

  /**
   * What is left of each limit of a key now; null if there is no such key. Rejects when the store cannot be reached.
   */
  async limitsOf(keyId: string): Promise<LimitsView | null> {
    const record = this.#ring.find(keyId)?.record;
    if (record === undefined) return null;
    const accounts = this.#authority.book.ofKey(record);
    return limitsView(record, accounts, await this.#authority.look([...accounts.values()]));
  }

  /** The workspace of a key; undefined if there is no such key. */
  workspaceOf(keyId: string): string | undefined {
    return this.#ring.find(keyId)?.record.workspace ?? subjectWorkspace(keyId);
  }

  /** Applies changes of the store at once, instead of within `refreshMs`. */
  refresh(): Promise<void> {
    return this.#ring.refresh();
  }

  configure(config: AccessConfig, prices: readonly Price[]): void {
    this.#config = config;
    this.#prices = new Prices(prices);
    this.#ring.wrongKeys.mostPerMinute = config.wrongKeysPerMinute;
    this.#ledger.onStoreFailure = config.onStoreFailure;
    this.#watch();
  }

  get counts(): AccessCounts {
    return {
      mode: this.#authority.mode,
      keys: this.#ring.size,
      wrongKeys: this.#ring.wrong,
      wrongKeysLimited: this.#ring.wrongLimited,
      limited: this.#ledger.limited,
      storeFailures: this.#authority.storeFailures + this.#refreshFailures,
      refusedUnasked: this.#ledger.refusedUnasked,
      admittedUnasked: this.#ledger.admittedUnasked,
    };
  }

  /**
   * Hands the accounts to the store. Requests still under way are not counted any more. Rejects when the store fails.
   */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#authority.beat();
    await this.#ledger.drain();
    await this.#authority.leave();
  }

  async #join(): Promise<void> {
    await this.#authority.beat();
    for (let pauses = 1; this.#authority.mode === 'joining'; pauses++) {
      await this.#pause(JOIN_PAUSE_MS);
      await this.#authority.beat();
      if (pauses === LONG_JOIN) this.#warn(JOIN_TAKES_LONG);
    }
  }

  #watch(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [
      setInterval(() => this.#tick(), HEARTBEAT_MS),
      setInterval(() => this.#poll(), this.#config.refreshMs),
    ];
  }

  /** Failures are counted by the authority; the next tick retries. */
  #tick(): void {
    this.#ledger.sweep();
    this.#early.sweep();
    this.#sweepTokens();
    if (this.#isBeating) return;
    this.#isBeating = true;
    this.#authority
      .beat()
      .catch(() => {})
      .finally(() => {
        this.#isBeating = false;
        this.#ledger.pump();
      });
  }

  /** Forgets old tokens now and then, and the accounts of their subjects. */
  #sweepTokens(): void {
    const nowMs = this.#nowMs();
    if (this.#tokens === null || this.#preparing > 0 || nowMs - this.#sweptMs < SWEEP_MS) return;
    this.#sweptMs = nowMs;
    this.#authority.book.dropSubjects(this.#tokens.sweep());
  }

  #poll(): void {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    this.refresh()
      .catch(() => this.#refreshFailures++)
      .finally(() => {
        this.#isRefreshing = false;
      });
  }

  #warnUnpriced(model: string): void {
    if (this.#prices.has(model) || this.#unpriced.has(model)) return;
    this.#unpriced.add(model);
    this.#warn(`the model '${model}' has no price: it costs nothing, also for keys with a budget in dollars`);
  }
}
