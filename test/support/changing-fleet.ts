import type { ReplicaSignals } from '../../src/gateway/signals/replica-signals.js';
import { randomStream } from '../../src/kernel/random-stream.js';
import type { ClusterConfig } from '../../src/simulator/cluster-config.js';
import { LiveFleet } from './live-fleet.js';
import { randomRequests, type ScriptedRequest } from './scripted-requests.js';
import { SimulatedFleet } from './simulated-fleet.js';
import type { Watched } from './two-worlds.js';

/** One world's decisions while replicas join, leave and fail, driven step by step. */
export interface FleetWorld {
  /** What was decided since the last call: request and replica with the rule that chose it, or why there is none. */
  decided(): string[];
  /** The fleet is now these replicas; new ones are down. */
  setReplicas(ids: readonly string[], nowUs: number): void;
  setDown(id: string, isDown: boolean, nowUs: number): void;
  report(id: string, signals: Reported, nowUs: number): void;
  arrive(row: number, nowUs: number): void;
  firstToken(row: number, nowUs: number): void;
  finish(row: number, nowUs: number): void;
  /** The replica has failed the request, which goes to another one. */
  fail(row: number, nowUs: number): void;
}

export type Reported = Pick<ReplicaSignals, 'running' | 'waiting' | 'kvUsed' | 'freeBlocks' | 'cacheHitRate'>;

/** Requests of a run; more steps than that happen between them. */
export const REQUESTS = 200;
const MOST_REPLICAS = 5;

/** Counts of a run, so that a test can check that it compared something. */
export interface Comparison {
  decisions: number;
  refusals: Set<string>;
  replicas: Set<string>;
  waited: number;
}

/**
 * Feeds the same arrivals, first tokens, completions, failures, reports, joins and departures to the simulator's router
 * and to a gateway's endpoint, and compares what they decide after every step.
 * @param differ called with a step and both worlds' decisions when they are not the same
 */
export async function compareWorlds(
  config: ClusterConfig,
  seed: number,
  differ: (step: string, live: string[], simulated: string[]) => void,
  watched: Watched = {},
): Promise<Comparison> {
  const requests = randomRequests(REQUESTS, seed);
  const live = new LiveFleet(requests, config, watched);
  const script = new Script(requests, live, new SimulatedFleet(requests, config, MOST_REPLICAS), seed, differ);
  try {
    return script.run();
  } finally {
    await live.close();
  }
}

class Script {
  readonly #requests: readonly ScriptedRequest[];
  readonly #live: FleetWorld;
  readonly #simulated: FleetWorld;
  readonly #differ: (step: string, live: string[], simulated: string[]) => void;
  readonly #random;
  #nowUs = 0;
  #ids: string[] = [];
  #joined = 0;
  #arrived = 0;
  /** Rows on replicas, and what was seen so far. */
  #inFlight: number[] = [];
  readonly #seen: Comparison = { decisions: 0, refusals: new Set(), replicas: new Set(), waited: 0 };

  constructor(
    requests: readonly ScriptedRequest[],
    live: FleetWorld,
    simulated: FleetWorld,
    seed: number,
    differ: (step: string, live: string[], simulated: string[]) => void,
  ) {
    this.#requests = requests;
    this.#live = live;
    this.#simulated = simulated;
    this.#random = randomStream(seed, 'changing fleet');
    this.#differ = differ;
  }

  run(): Comparison {
    for (let i = 0; i < 3; i++) this.#join();
    while (this.#arrived < this.#requests.length) {
      this.#nowUs += 1 + this.#random.below(40);
      this.#step();
    }
    for (const row of [...this.#inFlight]) this.#end(row);
    return this.#seen;
  }

  #step(): void {
    const dice = this.#random.below(100);
    if (dice < 45) this.#arrive();
    else if (dice < 55)
      this.#withRequest((row) => this.#both(`first token of ${row}`, (one) => one.firstToken(row, this.#nowUs)));
    else if (dice < 78) this.#withRequest((row) => this.#end(row));
    else if (dice < 82) this.#withRequest((row) => this.#fail(row));
    else if (dice < 94) this.#withReplica((id) => this.#report(id));
    else if (dice < 96) this.#withReplica((id) => this.#setDown(id, true));
    else if (dice < 98) this.#withReplica((id) => this.#setDown(id, false));
    else if (this.#ids.length < MOST_REPLICAS && (this.#ids.length < 2 || this.#random.below(2) === 0)) this.#join();
    else this.#withReplica((id) => this.#leave(id));
  }

  #arrive(): void {
    const row = this.#arrived++;
    const before = this.#seen.decisions;
    this.#both(`arrival of ${row}`, (one) => one.arrive(row, this.#nowUs));
    if (this.#seen.decisions === before) this.#seen.waited++;
  }

  #end(row: number): void {
    this.#inFlight = this.#inFlight.filter((other) => other !== row);
    this.#both(`end of ${row}`, (one) => one.finish(row, this.#nowUs));
  }

  #fail(row: number): void {
    this.#inFlight = this.#inFlight.filter((other) => other !== row);
    this.#both(`failure of ${row}`, (one) => one.fail(row, this.#nowUs));
  }

  #join(): void {
    const id = `r${this.#joined++}`;
    // A replica joins at any index, not only at the end.
    this.#ids.splice(this.#random.below(this.#ids.length + 1), 0, id);
    this.#both(`join of ${id}`, (one) => one.setReplicas(this.#ids, this.#nowUs));
    this.#report(id);
    this.#setDown(id, false);
  }

  #leave(id: string): void {
    this.#ids = this.#ids.filter((other) => other !== id);
    this.#both(`departure of ${id}`, (one) => one.setReplicas(this.#ids, this.#nowUs));
  }

  #setDown(id: string, isDown: boolean): void {
    this.#both(`${id} ${isDown ? 'down' : 'up'}`, (one) => one.setDown(id, isDown, this.#nowUs));
  }

  #report(id: string): void {
    const random = this.#random;
    const kvUsed = random.next();
    const signals: Reported = {
      running: random.below(6),
      waiting: random.below(4),
      kvUsed,
      freeBlocks: Math.floor((1 - kvUsed) * 100),
      cacheHitRate: random.next(),
    };
    this.#both(`report of ${id}`, (one) => one.report(id, signals, this.#nowUs));
  }

  #withRequest(act: (row: number) => void): void {
    if (this.#inFlight.length > 0) act(this.#inFlight[this.#random.below(this.#inFlight.length)]!);
  }

  #withReplica(act: (id: string) => void): void {
    if (this.#ids.length > 0) act(this.#ids[this.#random.below(this.#ids.length)]!);
  }

  #both(step: string, act: (world: FleetWorld) => void): void {
    act(this.#live);
    act(this.#simulated);
    const live = this.#live.decided();
    const simulated = this.#simulated.decided();
    if (live.join('\n') !== simulated.join('\n')) this.#differ(step, live, simulated);
    for (const line of live) {
      const [row, verdict] = line.split(': ') as [string, string];
      this.#seen.decisions++;
      if (/^r\d/.test(verdict)) {
        this.#seen.replicas.add(verdict.split(',')[0]!);
        this.#inFlight.push(Number(row));
      } else if (!verdict.startsWith('none')) this.#seen.refusals.add(verdict);
    }
  }
}
