import { GATEWAY_DEFAULTS } from '../../src/gateway/config/gateway-config.js';
import { DecisionRing } from '../../src/gateway/decisions/decision-ring.js';
import { Endpoint } from '../../src/gateway/fleet/endpoint/endpoint.js';
import type { PlacedRequest } from '../../src/gateway/fleet/endpoint/placer.js';
import { LiveReplica } from '../../src/gateway/fleet/replica/live-replica.js';
import { GatewayMetrics } from '../../src/gateway/telemetry/gateway-metrics.js';
import type { PredictorSource } from '../../src/policy/latency-predictor.js';
import type { ClusterConfig } from '../../src/simulator/cluster-config.js';
import type { FleetWorld, Reported } from './changing-fleet.js';
import { scriptedPredictors, shareSpeeds } from './scripted-predictors.js';
import type { ScriptedRequest } from './scripted-requests.js';
import { livePolicyOf, type Watched } from './two-worlds.js';

/** A gateway's endpoint with its real replicas, at a time of the test's choice. No connection is ever made. */
export class LiveFleet implements FleetWorld {
  readonly #requests: readonly ScriptedRequest[];
  readonly #endpoint: Endpoint;
  readonly #made: LiveReplica[] = [];
  readonly #placements = new Map<number, PlacedRequest>();
  readonly #afterEvent: () => void;
  #decided: string[] = [];
  readonly #predictors: PredictorSource;
  #nowUs = 0;

  constructor(
    requests: readonly ScriptedRequest[],
    config: ClusterConfig,
    { afterEvent = () => {}, choices = [], ring = new DecisionRing(1), shadows }: Watched = {},
  ) {
    this.#afterEvent = afterEvent;
    this.#requests = requests;
    this.#predictors = scriptedPredictors(config);
    this.#endpoint = new Endpoint(
      'default',
      { ...livePolicyOf(config), shadows: choices },
      {
        config: {
          seed: config.seed,
          signals: { intervalMs: 1, staleMs: 1e9 },
          slowStartMs: 0,
          timeouts: GATEWAY_DEFAULTS.timeouts,
          waitMs: 0,
        },
        metrics: new GatewayMetrics(),
        ring,
        shadows: shadows ?? null,
        log: null,
        warn: () => {},
        nowUs: () => this.#nowUs,
        newAlarm: () => ({ set: () => {} }),
      },
    );
  }

  decided(): string[] {
    this.#afterEvent();
    const lines = this.#decided;
    this.#decided = [];
    return lines;
  }

  async close(): Promise<void> {
    await Promise.all(this.#made.map((replica) => replica.close()));
  }

  setReplicas(ids: readonly string[], nowUs: number): void {
    this.#nowUs = nowUs;
    const known = new Map(this.#endpoint.replicas.map((replica) => [replica.id, replica]));
    shareSpeeds(this.#endpoint, ids, this.#predictors);
    this.#endpoint.setReplicas(ids.map((id) => known.get(id) ?? this.#newReplica(id)));
  }

  setDown(id: string, isDown: boolean, nowUs: number): void {
    this.#nowUs = nowUs;
    if (isDown) this.#replica(id).unhealthy('down', 1);
    else this.#replica(id).healthy(nowUs / 1000);
    this.#endpoint.fleetChanged();
  }

  report(id: string, signals: Reported, nowUs: number): void {
    this.#nowUs = nowUs;
    this.#endpoint.report(this.#replica(id), { ...signals, atUs: nowUs, missing: [] });
  }

  arrive(row: number, nowUs: number): void {
    this.#nowUs = nowUs;
    this.#endpoint.flow.enter({
      facts: this.#requests[row]!.facts,
      queueSlot: -1,
      mayGo: () => this.#place(row, []),
      refused: (_, cause) => this.#decide(row, cause),
    });
  }

  firstToken(row: number, nowUs: number): void {
    this.#nowUs = nowUs;
    this.#endpoint.placer.firstToken(this.#placements.get(row)!, true);
  }

  finish(row: number, nowUs: number): void {
    this.#nowUs = nowUs;
    this.#endpoint.placer.finish(this.#placements.get(row)!, 1);
  }

  fail(row: number, nowUs: number): void {
    const { replica } = this.#placements.get(row)!;
    this.finish(row, nowUs);
    this.#place(row, [replica]);
  }

  #place(row: number, tried: readonly LiveReplica[]): void {
    const placement = this.#endpoint.placer.place(this.#requests[row]!.facts, tried.length, tried);
    this.#decide(row, `${placement?.replica.id ?? 'none'}, ${this.#endpoint.placer.lastRule}`);
    if (placement !== null) this.#placements.set(row, placement);
  }

  #replica(id: string): LiveReplica {
    return this.#endpoint.replicas.find((replica) => replica.id === id)!;
  }

  #newReplica(id: string): LiveReplica {
    const replica = new LiveReplica({ id, url: 'http://127.0.0.1:1', engine: 'vllm', models: ['m'] }, GATEWAY_DEFAULTS);
    // A correction of old reports that the simulator does not make: docs/design.md, "What differs on purpose".
    Object.defineProperty(replica, 'sentSinceReport', { get: () => 0, set: () => {} });
    this.#made.push(replica);
    return replica;
  }

  #decide(row: number, verdict: string): void {
    this.#decided.push(`${row}: ${verdict}`);
  }
}
