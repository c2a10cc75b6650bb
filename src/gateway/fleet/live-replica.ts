import { Pool } from 'undici';
import type { GatewayConfig, ReplicaConfig } from '../gateway-config.js';
import type { ReplicaSignals } from '../signals/replica-signals.js';
import { CircuitBreaker } from './circuit-breaker.js';

/** Where a replica is in its life. Only a ready one gets requests. */
export type ReplicaState = 'starting' | 'ready' | 'unhealthy' | 'draining';

/** One engine behind the gateway: its connections, its health, what it reports. */
export class LiveReplica {
  readonly id: string;
  readonly url: string;
  readonly engine: string;
  readonly pool: Pool;
  readonly breaker: CircuitBreaker;
  state: ReplicaState = 'starting';
  /** Why it is not ready, in words. */
  problem = 'not checked yet';
  models: ReadonlySet<string>;
  readonly asksForModels: boolean;
  /** When it last became ready. */
  readySinceMs = 0;
  healthFailures = 0;
  signals: ReplicaSignals | null = null;
  /** Requests of all kinds under way, whatever the policy's books say. */
  active = 0;

  constructor(config: ReplicaConfig, { breaker, timeouts }: Pick<GatewayConfig, 'breaker' | 'timeouts'>) {
    this.id = config.id;
    this.url = config.url;
    this.engine = config.engine;
    this.models = new Set(config.models ?? []);
    this.asksForModels = config.models === null;
    this.breaker = new CircuitBreaker(breaker);
    this.pool = new Pool(config.url, {
      connections: null,
      pipelining: 1,
      connect: { timeout: timeouts.connectMs },
      headersTimeout: timeouts.firstByteMs,
      bodyTimeout: timeouts.idleMs,
      keepAliveTimeout: 30_000,
    });
  }

  healthy(nowMs: number): void {
    this.healthFailures = 0;
    if (this.state === 'draining' || this.state === 'ready') return;
    this.state = 'ready';
    this.problem = '';
    this.readySinceMs = nowMs;
  }

  /** A check failed. A replica that was never ready stays starting: it may still be loading its model. */
  unhealthy(problem: string, failures: number): void {
    this.problem = problem;
    this.healthFailures++;
    if (this.state === 'ready' && this.healthFailures >= failures) this.state = 'unhealthy';
  }

  drain(): void {
    this.state = 'draining';
    this.problem = 'leaving the fleet';
  }

  async close(): Promise<void> {
    await this.pool.destroy().catch(() => {});
  }
}
