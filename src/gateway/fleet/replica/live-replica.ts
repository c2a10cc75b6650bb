import { measuredEngine } from '../../../engines/registry.js';
import type { JsonObject } from '../../../protocol/json/json-body.js';
import type { GatewayConfig, ReplicaConfig } from '../../config/gateway-config.js';
import { legalHeader } from '../../request/legal-header.js';
import type { ReplicaSignals } from '../../signals/replica-signals.js';
import type { UpstreamTls } from '../../upstream/origin.js';
import { PageClient, type PageLimits, type ReplicaPage } from '../../upstream/page-client.js';
import type { UpstreamCode } from '../../upstream/upstream-error.js';
import { UpstreamPool } from '../../upstream/upstream-pool.js';
import type { ManagedReplica, ServingState } from '../managed-routes.js';
import { CircuitBreaker } from './circuit-breaker.js';
import { ExternalApi } from './external-api.js';
import { CredentialRefused, type ExternalListener, ExternalPool } from './external-pool.js';
import { engineKeyOf, replicaIdentity } from './replica-identity.js';
import { RequestTrouble } from './request-trouble.js';

/** Shorter than any server keeps an idle connection: uvicorn, which most engines are behind, closes it after 5 s. */
const KEEP_ALIVE_MS = 4000;
/** Connections to one replica: more than any engine serves at once. Further requests wait for a free one. */
const MOST_CONNECTIONS = 4096;
/** Health checks and metrics under way at once. */
const MOST_PAGES = 4;
const MOST_WAITING = 16_384;
/** The shortest time between health checks of a replica that fails requests. */
const LOOK_AGAIN_MS = 1000;
/** The largest head of a response. */
const HEAD_BYTES = 16 * 1024;

/** The errors of checks of a replica that hangs. */
const SILENCE: ReadonlySet<string> = new Set<UpstreamCode>(['UPSTREAM_HEADERS_TIMEOUT', 'UPSTREAM_CONNECT_TIMEOUT']);

/** The part of the configuration that a replica uses. */
type ReplicaSettings = Pick<GatewayConfig, 'breaker' | 'timeouts'>;

/** One engine behind the gateway: its connections, its health, what it reports. */
export class LiveReplica {
  readonly id: string;
  /** The id as a header may hold it. */
  readonly headerId: string;
  readonly url: string;
  /** The machine or pod it runs on, as its address names it; empty for an external API. */
  readonly host: string;
  readonly engine: string;
  /** The GPU that its configuration names; empty for none. */
  readonly hardware: string;
  /** Its tensor parallelism; 0 where it is not named. */
  readonly tp: number;
  /** Replicas of an endpoint that have the same one share a latency profile. */
  readonly engineKey: string;
  readonly healthPath: string;
  readonly loadPath: string;
  /** Null for an engine of this installation. */
  readonly external: ExternalApi | null;
  /** Whether it can report its load in response headers. */
  readonly tellsLoad: boolean;
  pool: UpstreamPool;
  /** For health checks and metrics, so that these do not wait behind requests. */
  readonly #pages: PageClient;
  readonly breaker: CircuitBreaker;
  state: ServingState = 'starting';
  /** Why it is not ready, in words. */
  problem = 'not checked yet';
  models: ReadonlySet<string>;
  asksForModels: boolean;
  /** What it reports of its models, by name; null before it has been asked. */
  cards: ReadonlyMap<string, JsonObject> | null = null;
  /**
   * Its share of the requests among the replicas of its tier. A tier is used while no replica of a lower one can be.
   */
  weight: number;
  tier: number;
  /** It returned 429 and asked for no requests until then. */
  pausedUntilMs = 0;
  /** When it last became ready. */
  readySinceMs = 0;
  healthFailures = 0;
  /** When its last byte of a response came, in the gateway's microseconds; -1 before the first. */
  heardUs = -1;
  /** When its last health check ended. */
  checkedMs = 0;
  signals: ReplicaSignals | null = null;
  /** The last report of its metrics; the load in response headers is newer, but has fewer values. */
  scraped: ReplicaSignals | null = null;
  /** Requests of all kinds under way, independent of the policy's count. */
  active = 0;
  /** Found in a cluster, not listed in the configuration. */
  isDiscovered = false;
  /** Requests sent to it since it joined, tries on another replica included. */
  sent = 0;
  /** Called whenever its last request has ended. */
  readonly idleListeners = new Set<() => void>();
  /** Called when failed requests call for an immediate health check. */
  onDoubt: () => void = () => {};
  /** Requests sent to it less requests that ended since its last report. */
  sentSinceReport = 0;

  /** What requests have found wrong with an external API. */
  readonly #trouble = new RequestTrouble();
  readonly #listener: ExternalListener = {
    answered: (status) => {
      if (this.#trouble.answered(status)) this.onDoubt();
    },
    broke: (problem) => this.#trouble.broke(problem),
  };
  readonly #identity: string;
  /** Its own time-out for the first byte, if it has one. */
  readonly #firstByteMs: number | undefined;
  readonly #tls: UpstreamTls;
  readonly #isGuarded: boolean;
  #timeouts: ReplicaSettings['timeouts'];
  /** Former pools whose last requests are under way. */
  readonly #ending = new Set<UpstreamPool>();

  /**
   * @param endpoint the name of the endpoint it belongs to
   * @param tls for engines of this installation
   */
  constructor(
    config: ManagedReplica,
    { breaker, timeouts }: ReplicaSettings,
    readonly endpoint = '',
    tls: UpstreamTls = {},
  ) {
    this.id = config.id;
    this.headerId = legalHeader(config.id);
    this.url = config.url;
    this.engine = config.engine;
    this.hardware = config.hardware ?? '';
    this.tp = config.tp ?? 0;
    this.engineKey = engineKeyOf(config);
    this.healthPath = config.healthPath ?? '/health';
    this.loadPath = config.loadPath ?? '/metrics';
    this.external = config.external === undefined ? null : new ExternalApi(config.external);
    this.host = this.external === null ? new URL(config.url).hostname : '';
    this.tellsLoad = this.external === null && measuredEngine(config.engine, config.id).capabilities.loadHeader;
    this.models = new Set(config.models ?? []);
    this.asksForModels = config.models === null;
    this.weight = config.external?.weight ?? 1;
    this.tier = config.external?.tier ?? 0;
    this.breaker = new CircuitBreaker(breaker);
    this.#timeouts = timeouts;
    this.#identity = replicaIdentity(config);
    this.#firstByteMs = config.external?.firstByteMs;
    this.#tls = this.external === null ? tls : {};
    this.#isGuarded = config.isGuarded ?? config.external?.isGuarded ?? false;
    this.pool = this.#newPool();
    const { connectMs } = timeouts;
    this.#pages = new PageClient(this.url, {
      ...{ connectMs, keepAliveMs: KEEP_ALIVE_MS, mostConnections: MOST_PAGES },
      ...{ tls: this.#tls, isGuarded: this.#isGuarded },
    });
  }

  /** Its configuration, in the same form for engines and external APIs. */
  get config(): ReplicaConfig {
    const { engine, hardware, id, tp, url } = this;
    const models = this.asksForModels ? null : [...this.models];
    return { id, url, engine, models, ...(hardware === '' ? {} : { hardware }), ...(tp === 0 ? {} : { tp }) };
  }

  /**
   * Applies a new description, unless that is another replica: its address and engine do not change. Requests under way
   * are not affected. Returns whether it was applied.
   */
  adopt(config: ManagedReplica): boolean {
    if (replicaIdentity(config) !== this.#identity) return false;
    this.asksForModels = config.models === null;
    if (config.models !== null) this.models = new Set(config.models);
    this.weight = config.external?.weight ?? 1;
    this.tier = config.external?.tier ?? 0;
    if (this.external?.configure(config.external!) === true) {
      // A refusal of the former credential does not apply to the new one.
      this.#trouble.clear();
      this.checkedMs = 0;
    }
    return true;
  }

  /** The configuration has been read again. Requests under way keep the time-outs they began with. */
  configure({ breaker, timeouts }: ReplicaSettings): void {
    this.breaker.options = breaker;
    const { connectMs, firstByteMs } = this.#timeouts;
    this.#timeouts = timeouts;
    if (connectMs === timeouts.connectMs && firstByteMs === timeouts.firstByteMs) return;
    const before = this.pool;
    this.pool = this.#newPool();
    this.#ending.add(before);
    void before.close().then(() => this.#ending.delete(before));
  }

  /** A check passed. The models of an external API, which serve as its check, say nothing about its breaker. */
  healthy(nowMs: number): void {
    if (this.state === 'draining') return;
    if (this.external === null) this.breaker.halfOpen();
    if (this.healthFailures > 0) this.#trouble.recovered();
    this.healthFailures = 0;
    this.problem = '';
    if (this.state === 'ready') return;
    this.state = 'ready';
    this.readySinceMs = nowMs;
  }

  /** A check failed. A replica that was never ready stays starting: it may still be loading its model. */
  unhealthy(problem: string, failures: number): void {
    if (this.state === 'draining') return;
    this.problem = problem;
    this.healthFailures++;
    if (this.state !== 'ready' || this.healthFailures < failures) return;
    this.state = 'unhealthy';
    // It may come back with other settings.
    this.cards = null;
  }

  /**
   * Whether it is unhealthy because it does not respond at all. One that reports that it is unhealthy may be shutting
   * down, and still finish what it has.
   */
  get isSilent(): boolean {
    return this.state === 'unhealthy' && SILENCE.has(this.problem);
  }

  /** A request failed here, and the breaker has counted it. For an engine its own checks are enough. */
  blamed(nowMs: number): void {
    if (this.external === null) return;
    if (this.breaker.isOpen) this.#trouble.failing(nowMs);
    if (nowMs - this.checkedMs >= LOOK_AGAIN_MS) this.onDoubt();
  }

  /** What is wrong with it, by its checks or by requests, in words: empty when nothing is. */
  troubleAt(nowMs: number): string {
    return this.problem || this.#trouble.at(nowMs);
  }

  drain(): void {
    this.state = 'draining';
    this.problem = 'leaving the fleet';
  }

  /** A request has ended here, in any way. */
  finished(): void {
    this.active--;
    this.sentSinceReport--;
    if (this.active === 0 && this.idleListeners.size > 0) for (const listener of [...this.idleListeners]) listener();
  }

  /** Reads one of its pages, with the credential of an external API; throws CredentialRefused when that is refused. */
  async page(path: string, limits: PageLimits): Promise<ReplicaPage> {
    if (this.external === null) return this.#pages.get({ path, headers: [] }, limits);
    const page = await this.#pages.get(this.external.page(path), limits);
    if (page.status === 401) throw new CredentialRefused();
    return page;
  }

  async close(): Promise<void> {
    await Promise.all([this.#pages, this.pool, ...this.#ending].map((connections) => connections.destroy()));
  }

  /** No time-out between two pieces of a response: exchanges are looked after together, by `Exchange.check`. */
  #newPool(): UpstreamPool {
    const { connectMs, firstByteMs } = this.#timeouts;
    const options = {
      connectMs,
      headersMs: this.#firstByteMs ?? firstByteMs,
      keepAliveMs: KEEP_ALIVE_MS,
      mostConnections: MOST_CONNECTIONS,
      mostWaiting: MOST_WAITING,
      headBytes: HEAD_BYTES,
      tls: this.#tls,
      isGuarded: this.#isGuarded,
    };
    const { external, url } = this;
    return external === null
      ? new UpstreamPool(url, options)
      : new ExternalPool(url, options, external, this.#listener);
  }
}
