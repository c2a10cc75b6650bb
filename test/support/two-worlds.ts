import { DEFAULT_POLICY, GATEWAY_DEFAULTS, type PolicyConfig } from '../../src/gateway/config/gateway-config.js';
import { DecisionRing } from '../../src/gateway/decisions/decision-ring.js';
import { Endpoint } from '../../src/gateway/fleet/endpoint/endpoint.js';
import type { PlacedRequest } from '../../src/gateway/fleet/endpoint/placer.js';
import type { ShadowPort } from '../../src/gateway/fleet/endpoint/shadow-port.js';
import { LiveReplica } from '../../src/gateway/fleet/replica/live-replica.js';
import type { Waiting } from '../../src/gateway/flow/waiting.js';
import { fakeFacts } from '../../src/gateway/request/fake-facts.fixture.js';
import type { RequestFacts } from '../../src/gateway/request/request-facts.js';
import { GatewayMetrics } from '../../src/gateway/telemetry/gateway-metrics.js';
import type { ShadowChoice } from '../../src/policy/bundle/shadow-choice.js';
import { type FakeRequest, fakeLatency } from '../../src/replica/fake-replica.fixture.js';
import { scaledLatency } from '../../src/replica/latency/latency-range.js';
import type { ClusterConfig } from '../../src/simulator/cluster-config.js';
import { simulateFake } from '../../src/simulator/fake-cluster.fixture.js';
import { fleetReplicas } from '../../src/simulator/fleet/fleet-replicas.js';
import { replicaPredictors } from '../../src/simulator/prediction/replica-predictors.js';
import { shareSpeeds } from './scripted-predictors.js';
import type { NewEngine } from './virtual-engine.js';

const NEVER = Number.POSITIVE_INFINITY;
const LATENCY = { queueingUs: 3, outputTokenUs: 1, postDecodeUs: 2 };

/** What was decided about a request, and when: the replica it went to, or why it was refused. */
export type Verdict = [atUs: number, request: string, verdict: string];

/** Every decision of the simulator about these arrivals. */
export function simulated(list: readonly FakeRequest[], config: ClusterConfig): Verdict[] {
  const verdicts: Verdict[] = [];
  const decision = (line: string) => {
    const { chosen, reason, request_id, t_us } = JSON.parse(line);
    verdicts.push([t_us, request_id, chosen ?? reason]);
  };
  simulateFake(list, { ...config, traceLevel: 'decisions' }, { latency: LATENCY, watch: { decision } });
  return verdicts;
}

/** The policies of a cluster as a gateway's configuration has them. */
export function livePolicyOf({ admission, flowControl, replica, routing, ...config }: ClusterConfig): PolicyConfig {
  return {
    ...DEFAULT_POLICY,
    name: routing.policy,
    options: routing.options,
    blockSize: replica.blockSize,
    admission,
    sloPriorities: config.sloPriorities,
    tenantBudgets: config.tenantBudgets,
    seatsPerReplica: replica.maxNumSeqs,
    flowControl,
  };
}

/** Shadows that follow a live endpoint, and what is called after each of its events. */
export interface Watched {
  choices?: readonly ShadowChoice[];
  shadows?: ShadowPort;
  ring?: DecisionRing;
  afterEvent?: () => void;
}

/** Every decision of a gateway's endpoint about the same arrivals, in front of engines with the same virtual clock. */
export async function live(
  list: readonly FakeRequest[],
  config: ClusterConfig,
  newEngine: NewEngine,
  watched: Watched = {},
): Promise<Verdict[]> {
  const world = new LiveWorld(list, config, newEngine, watched);
  world.run();
  await world.close();
  return world.verdicts;
}

class LiveWorld {
  readonly verdicts: Verdict[] = [];
  readonly #list: readonly FakeRequest[];
  readonly #config: ClusterConfig;
  readonly #afterEvent: () => void;
  readonly #endpoint: Endpoint;
  readonly #replicas: LiveReplica[];
  readonly #engines;
  readonly #placements: PlacedRequest[] = [];
  /** Events in engines that the gateway has not been notified of yet. */
  readonly #events: [what: 'firstToken' | 'left', request: number, atUs: number][] = [];
  #nowUs = 0;
  #alarmUs = NEVER;
  #wake: () => void = () => {};
  #scrapedUs = 0;

  constructor(
    list: readonly FakeRequest[],
    config: ClusterConfig,
    newEngine: NewEngine,
    { afterEvent = () => {}, choices = [], ring = new DecisionRing(1), shadows }: Watched,
  ) {
    this.#afterEvent = afterEvent;
    this.#list = list;
    this.#config = config;
    const ids = Array.from({ length: config.instances }, (_, i) => `instance_${i}`);
    const events = {
      firstToken: (request: number, atUs: number) => this.#events.push(['firstToken', request, atUs]),
      left: (request: number, _: boolean, atUs: number) => this.#events.push(['left', request, atUs]),
    };
    this.#engines = ids.map((_, i) => {
      const latency = scaledLatency(fakeLatency(LATENCY), config.slowFactors?.[i] ?? 1);
      return newEngine(config.replica, latency, list, events);
    });
    this.#replicas = ids.map(
      (id) => new LiveReplica({ id, url: 'http://127.0.0.1:1', engine: 'vllm', models: ['m'] }, GATEWAY_DEFAULTS),
    );
    for (const replica of this.#replicas) replica.healthy(0);
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
        newAlarm: (wake) => {
          this.#wake = wake;
          return {
            set: (atUs) => {
              this.#alarmUs = atUs;
            },
          };
        },
      },
    );
    const predictors = replicaPredictors(fleetReplicas(config, fakeLatency(LATENCY)));
    shareSpeeds(this.#endpoint, ids, predictors);
    this.#endpoint.setReplicas(this.#replicas);
    this.#scrape();
  }

  /** At equal times the gateway comes before the engines, and arrivals before alarms. */
  run(): void {
    const inStep = this.#config.flowControl?.dispatchTickUs === 0;
    for (let next = 0; ; ) {
      this.#afterEvent();
      const arrivalUs = this.#list[next]?.at ?? NEVER;
      const atUs = Math.min(arrivalUs, this.#alarmUs);
      if (inStep ? this.#runEarliest(atUs) : this.#runAll(atUs)) continue;
      if (atUs === NEVER || (arrivalUs === NEVER && this.#isStuck())) return;
      this.#nowUs = atUs;
      if (arrivalUs === atUs) {
        this.#scrapeIfDue();
        this.#endpoint.flow.enter(this.#request(next++));
      } else {
        if (this.#endpoint.flow.waiting > 0) this.#scrapeIfDue();
        this.#alarmUs = NEVER;
        this.#wake();
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.close()));
  }

  #runAll(beforeUs: number): false {
    for (const engine of this.#engines) engine.runBefore(beforeUs);
    this.#passEvents();
    return false;
  }

  #runEarliest(beforeUs: number): boolean {
    const nextUs = Math.min(...this.#engines.map((engine) => engine.nextUs));
    if (nextUs >= beforeUs) return false;
    this.#nowUs = nextUs;
    this.#engines.find((engine) => engine.nextUs === nextUs)!.runNext();
    this.#passEvents();
    return true;
  }

  #passEvents(): void {
    const nowUs = this.#nowUs;
    for (const [what, request, atUs] of this.#events.splice(0)) {
      const placement = this.#placements[request]!;
      const { output = 1 } = this.#list[request]!;
      // By the classic rules the end of a step is known at its start; a queue lets requests out at that start.
      if (this.#config.flowControl === null) this.#nowUs = atUs;
      if (what === 'left') this.#endpoint.placer.finish(placement, output);
      else this.#endpoint.placer.firstToken(placement, true);
    }
    this.#nowUs = nowUs;
  }

  /** Nothing runs and nothing arrives: ticks could go on forever. */
  #isStuck(): boolean {
    const { flowControl, snapshotRefreshUs } = this.#config;
    if (flowControl === null || flowControl.requestTtlUs > 0 || this.#endpoint.inFlight > 0) return false;
    return this.#nowUs - Math.max(...this.#engines.map(({ replica }) => replica.clockUs)) > snapshotRefreshUs;
  }

  #scrapeIfDue(): void {
    if (this.#nowUs - this.#scrapedUs >= this.#config.snapshotRefreshUs) this.#scrape();
  }

  #scrape(): void {
    this.#scrapedUs = this.#nowUs;
    this.#replicas.forEach((replica, i) => {
      const { batchSize, cacheHitRate, kv, queueDepth } = this.#engines[i]!.replica;
      this.#endpoint.report(replica, {
        atUs: this.#nowUs,
        running: batchSize,
        waiting: queueDepth,
        kvUsed: kv.pool.used / kv.pool.total,
        freeBlocks: kv.pool.free,
        cacheHitRate,
        missing: [],
      });
    });
  }

  #request(row: number): Waiting {
    const facts = factsOf(this.#list[row]!, row);
    const say = (verdict: string) => this.verdicts.push([this.#nowUs, facts.id, verdict]);
    return {
      facts,
      queueSlot: -1,
      mayGo: () => {
        const placement = this.#endpoint.placer.place(facts, 0, [])!;
        this.#placements[row] = placement;
        say(placement.replica.id);
        this.#engines[this.#replicas.indexOf(placement.replica)]!.take(row, this.#nowUs);
      },
      refused: (_, cause) => say(cause),
    };
  }
}

/** The facts of a request whose prompt has as many tokens as the gateway counts: four bytes each. */
export function factsOf(
  { group, input, prefix = input, session, slo, tenant }: FakeRequest,
  row: number,
): RequestFacts {
  const shared = group === undefined ? '' : `${group};`.padEnd(4 * Math.min(prefix, input), '-');
  return fakeFacts({
    id: `request_${row}`,
    session: session ?? '',
    sloClass: slo ?? 'standard',
    tenant: tenant ?? '',
    streams: true,
    body: { prompt: `${shared}${row};`.padEnd(4 * input, '.').slice(0, 4 * input) },
  });
}
