import { createExplanation } from '../../src/policy/explanation.js';
import { HostedQueue, QUEUE_FULL, QUEUE_SHED } from '../../src/policy/host/hosted-queue.js';
import type { PolicyHost } from '../../src/policy/host/policy-host.js';
import { fakeTable } from '../../src/replica/fake-replica.fixture.js';
import type { ClusterConfig } from '../../src/simulator/cluster-config.js';
import { createHost, Router } from '../../src/simulator/router.js';
import type { FleetWorld, Reported } from './changing-fleet.js';
import { scriptedPredictors } from './scripted-predictors.js';
import { blockKeysOf, type ScriptedRequest } from './scripted-requests.js';

/**
 * The simulator's router and queue. The simulator's own fleets never change and its prompts have no text: here its host is given
 * replicas that come and go, the reasons why some are not eligible, and the text of requests.
 */
export class SimulatedFleet implements FleetWorld {
  readonly #requests: readonly ScriptedRequest[];
  readonly #host: PolicyHost;
  readonly #router: Router;
  readonly #queue: HostedQueue | null;
  readonly #why;
  readonly #down = new Set<string>();
  readonly #placedOn = new Map<number, string>();
  #decided: string[] = [];

  constructor(requests: readonly ScriptedRequest[], config: ClusterConfig, mostReplicas: number) {
    const table = fakeTable(
      requests.map(({ facts, inputTokens }) => ({
        input: inputTokens,
        slo: facts.sloClass,
        ...(facts.tenant === '' ? {} : { tenant: facts.tenant }),
        ...(facts.session === '' ? {} : { session: facts.session }),
      })),
    );
    this.#requests = requests;
    this.#host = createHost({ ...config, instances: mostReplicas }, scriptedPredictors(config));
    this.#host.setReplicas([]);
    this.#router = new Router(config, this.#host, table, (blockSize) => blockKeysOf(requests, blockSize), []);
    this.#queue = config.flowControl === null ? null : new HostedQueue(config.flowControl, this.#host.priorities);
    this.#why = createExplanation(mostReplicas);
  }

  decided(): string[] {
    const lines = this.#decided;
    this.#decided = [];
    return lines;
  }

  setReplicas(ids: readonly string[], nowUs: number): void {
    for (const id of ids) if (this.#host.slot(id) < 0) this.#down.add(id);
    this.#host.setReplicas(ids);
    this.#dispatch(Number.POSITIVE_INFINITY, nowUs);
  }

  setDown(id: string, isDown: boolean, nowUs: number): void {
    if (isDown) this.#down.add(id);
    else this.#down.delete(id);
    this.#dispatch(Number.POSITIVE_INFINITY, nowUs);
  }

  report(id: string, { cacheHitRate, freeBlocks, kvUsed, running, waiting }: Reported, nowUs: number): void {
    const { view } = this.#host;
    const slot = this.#host.slot(id);
    view.queued[slot] = waiting;
    view.running[slot] = running;
    view.kvUsed[slot] = kvUsed;
    view.freeBlocks[slot] = freeBlocks;
    view.cacheHitRate[slot] = cacheHitRate;
    this.#dispatch(Number.POSITIVE_INFINITY, nowUs);
  }

  arrive(row: number, nowUs: number): void {
    const { sloClass, tenant } = this.#requests[row]!.facts;
    this.#look(row, nowUs);
    const reason = this.#router.refuse();
    if (reason !== null) this.#decide(row, reason);
    else if (this.#queue === null) this.#route(row, nowUs);
    else {
      const outcome = this.#queue.enqueue(row, sloClass, tenant, nowUs);
      if (outcome === 'displaced') this.#decide(this.#queue.displaced, QUEUE_SHED);
      if (outcome === 'rejected') this.#decide(row, QUEUE_FULL);
      this.#dispatch(1, nowUs);
    }
  }

  firstToken(row: number, nowUs: number): void {
    this.#router.firstToken(row, nowUs);
  }

  finish(row: number, nowUs: number): void {
    this.#router.left(row, nowUs, true);
    this.#dispatch(1, nowUs);
  }

  fail(row: number, nowUs: number): void {
    this.finish(row, nowUs);
    this.#route(row, nowUs, this.#placedOn.get(row));
  }

  #look(row: number, nowUs: number, tried?: string): void {
    this.#router.look(row, nowUs);
    this.#restrict(tried);
  }

  #restrict(tried?: string): void {
    this.#host.restrict(this.#host.view.ids.map((id) => (id === tried || this.#down.has(id) ? 'not eligible' : null)));
  }

  #dispatch(times: number, nowUs: number): void {
    const queue = this.#queue;
    for (let left = times; queue !== null && left > 0 && queue.size > 0; left--) {
      this.#router.lookAtFleet(nowUs);
      this.#restrict();
      const row = queue.next(this.#host.view);
      if (row < 0) return;
      this.#route(row, nowUs);
    }
  }

  #route(row: number, nowUs: number, tried?: string): void {
    this.#look(row, nowUs, tried);
    this.#host.features.body = this.#requests[row]!.facts.body.parsed();
    const slot = this.#router.pick(row, this.#why);
    const id = this.#host.view.ids[slot];
    this.#decide(row, `${id ?? 'none'}, ${this.#why.rule}`);
    if (id === undefined) return;
    this.#router.placed(row, slot);
    this.#placedOn.set(row, id);
  }

  #decide(row: number, verdict: string): void {
    this.#decided.push(`${row}: ${verdict}`);
  }
}
