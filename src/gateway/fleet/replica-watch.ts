import type { GatewayConfig } from '../config/gateway-config.js';
import { scrape } from '../signals/scrape.js';
import type { GatewayMetrics } from '../telemetry/gateway-metrics.js';
import type { Endpoint } from './endpoint/endpoint.js';
import { checkHealth } from './replica/health-check.js';
import type { LiveReplica } from './replica/live-replica.js';

/** A healthy external API is checked no more often: its provider may count that. */
const EXTERNAL_CHECK_MS = 30_000;

export interface ReplicaWatchParts {
  /** Replaced when the gateway reloads. */
  config: Pick<GatewayConfig, 'health'>;
  metrics: GatewayMetrics;
  /** The gateway's clock, microseconds from its start. */
  nowUs: () => number;
}

/** Checks the health of replicas and scrapes their signals for their endpoints. */
export class ReplicaWatch {
  readonly #endpoints: ReadonlyMap<string, Endpoint>;
  readonly #parts: ReplicaWatchParts;
  /** Checks and scrapes under way. */
  readonly #checks = new Map<LiveReplica, Promise<void>>();
  readonly #scrapes = new Map<LiveReplica, Promise<void>>();

  constructor(endpoints: ReadonlyMap<string, Endpoint>, parts: ReplicaWatchParts) {
    this.#endpoints = endpoints;
    this.#parts = parts;
  }

  /**
   * Checks every replica at once; resolves when all checks have ended. May be called again before that: a check that
   * hangs ends by its timeout and delays no other.
   */
  async check(): Promise<void> {
    const nowMs = this.#nowMs();
    const due: Promise<void>[] = [];
    for (const { replicas } of this.#endpoints.values()) {
      for (const replica of replicas) if (isDue(replica, nowMs)) due.push(this.look(replica));
    }
    await Promise.all(due);
  }

  /** Checks the health of a replica. */
  look(replica: LiveReplica): Promise<void> {
    return once(this.#checks, replica, async () => {
      const before = replica.state;
      await checkHealth(replica, this.#parts.config.health, () => this.#nowMs());
      replica.checkedMs = this.#nowMs();
      // An open breaker may admit a probe now.
      if (replica.state === before && !replica.breaker.isOpen) return;
      const endpoint = this.#endpoints.get(replica.endpoint);
      if (endpoint?.replicas.includes(replica)) endpoint.fleetChanged();
    });
  }

  /**
   * Scrapes every ready replica at once; may be called again as `check` may. A replica that does not respond keeps its
   * last signals until they are stale.
   */
  async scrape(): Promise<void> {
    const all: Promise<void>[] = [];
    for (const endpoint of this.#endpoints.values()) {
      // Time alone may free capacity: a breaker allows another attempt.
      endpoint.fleetChanged();
      for (const replica of endpoint.replicas) {
        if (replica.state !== 'ready' || replica.external !== null) continue;
        all.push(once(this.#scrapes, replica, () => this.#scrape(endpoint, replica)));
      }
    }
    await Promise.all(all);
  }

  async #scrape(endpoint: Endpoint, replica: LiveReplica): Promise<void> {
    const { config, metrics, nowUs } = this.#parts;
    try {
      const signals = await scrape(replica, config.health.timeoutMs, nowUs);
      for (const name of signals.missing) metrics.replicas.signalMissing(replica.id, name);
      endpoint.report(replica, signals);
    } catch {
      if (endpoint.replicas.includes(replica)) metrics.replicas.scrapeFailed(replica.id);
    }
  }

  #nowMs(): number {
    return this.#parts.nowUs() / 1000;
  }
}

function isDue({ checkedMs, external, healthFailures, state }: LiveReplica, nowMs: number): boolean {
  return external === null || state !== 'ready' || healthFailures > 0 || nowMs - checkedMs >= EXTERNAL_CHECK_MS;
}

/** Starts a check unless one is under way already. */
function once(
  underWay: Map<LiveReplica, Promise<void>>,
  replica: LiveReplica,
  ask: () => Promise<void>,
): Promise<void> {
  const asked = underWay.get(replica);
  if (asked !== undefined) return asked;
  const response = ask().finally(() => underWay.delete(replica));
  underWay.set(replica, response);
  return response;
}
