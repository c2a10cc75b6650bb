import { expect, test } from 'vitest';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS } from '../src/gateway/config/gateway-config.js';
import { DecisionRing } from '../src/gateway/decisions/decision-ring.js';
import { Endpoint } from '../src/gateway/fleet/endpoint/endpoint.js';
import type { PlacedRequest } from '../src/gateway/fleet/endpoint/placer.js';
import { LiveReplica } from '../src/gateway/fleet/replica/live-replica.js';
import { ObservedEngines } from '../src/gateway/prediction/observed-engines.js';
import { finishedRequest } from '../src/gateway/request/finished-request.fixture.js';
import { GatewayMetrics } from '../src/gateway/telemetry/gateway-metrics.js';
import { randomStream } from '../src/kernel/random-stream.js';
import { physicsFamily } from '../src/observe/fit/families/physics-family.js';
import { ENGINE } from '../src/observe/fit/planted.fixture.js';
import { loadGpu } from '../src/replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../src/replica/catalogue/model-catalogue.js';
import type { LatencyModel } from '../src/replica/latency/contract.js';
import { profileLatency } from '../src/replica/latency/profile-latency.js';
import { Replica } from '../src/replica/replica.js';
import { RequestOutcomes } from '../src/replica/request-outcomes.js';
import { EngineProfiles } from '../src/twin/profiles/engine-profiles.js';
import { fitHere } from '../src/twin/profiles/fit/fit-thread.js';
import { PromptKeys } from '../src/workload/prompt-keys.js';
import { RequestTable } from '../src/workload/request-table.js';
import { factsOf } from './support/two-worlds.js';

const FAMILY = physicsFamily(loadModel('qwen/qwen3-14b'), loadGpu('H100'), 1);
const engineOf = (slower: number) => {
  const factors = [1.12 * slower, 0.9 * slower, 1.06 * slower, 1.6, 0.7, 0.7];
  return FAMILY.costsOf(FAMILY.parameters.map(({ start }, i) => start * factors[i]!));
};
const MINUTE = 60e6;

/** A gateway's endpoint and one engine in virtual time: the engine becomes slower on its way. */
class VirtualYard {
  nowUs = 0;
  costs = engineOf(1);
  #latency = profileLatency(this.costs);
  readonly observed = new ObservedEngines();
  readonly events: string[] = [];
  readonly live = new LiveReplica(
    { id: 'r0', url: 'http://127.0.0.1:1', engine: 'vllm', models: ['m'] },
    GATEWAY_DEFAULTS,
  );
  readonly endpoint = new Endpoint('chat', DEFAULT_POLICY, {
    config: { ...GATEWAY_DEFAULTS, seed: 1, signals: { intervalMs: 1, staleMs: 1e9 }, slowStartMs: 0, waitMs: 0 },
    metrics: new GatewayMetrics(),
    ring: new DecisionRing(1),
    log: null,
    warn: () => {},
    nowUs: () => this.nowUs,
    newAlarm: () => ({ set: () => {} }),
  });
  readonly profiles = new EngineProfiles({
    endpoints: () => new Map([['chat', this.endpoint]]),
    ...{ observed: this.observed, nowUs: () => this.nowUs, epochUs: 0, folder: null },
    // Pauses are those of this machine, not of virtual time.
    makeFit: async (job) => ({ ...(await fitHere(job)), restMs: 0 }),
    warn: () => {},
    event: (_, type, reason, message) =>
      this.events.push(`${Math.floor(this.nowUs / MINUTE)} ${type} ${reason}: ${message}`),
  });
  readonly #table = requests(3000);
  readonly #outcomes = new RequestOutcomes(this.#table.count);
  readonly #placed = new Map<number, [PlacedRequest, ttftUs: number, itlUs: number]>();
  readonly #ended: number[] = [];
  readonly #engine: Replica;
  #next = 0;
  #tickUs = 0;

  constructor() {
    this.live.healthy(0);
    this.endpoint.setReplicas([this.live]);
    // Its facts are not read: there is no server.
    this.live.page = async () => ({ status: 404, text: '' });
    const latency: LatencyModel = {
      ...profileLatency(this.costs),
      stepUs: (shape, at) => this.#latency.stepUs(shape, at),
    };
    const events = {
      firstToken: (row: number) => this.endpoint.placer.firstToken(this.#placed.get(row)![0], true),
      left: (row: number) => void this.#ended.push(row),
    };
    this.#engine = new Replica(
      { ...UNUSED, ...ENGINE },
      latency,
      { table: this.#table, outcomes: this.#outcomes, keys: new PromptKeys(this.#table, 16), urgency: () => 0 },
      events,
      Number.POSITIVE_INFINITY,
    );
  }

  slowDown(factor: number): void {
    this.costs = engineOf(factor);
    this.#latency = profileLatency(this.costs);
  }

  async run(minutes: number): Promise<void> {
    const endUs = this.nowUs + minutes * MINUTE;
    while (this.#table.arrivalUs[this.#next]! < endUs) {
      const row = this.#next++;
      this.nowUs = this.#table.arrivalUs[row]!;
      this.#engine.advance(this.nowUs);
      for (const ended of this.#ended.splice(0)) this.#end(ended);
      const input = this.#table.inputTokens[row]!;
      const placed = this.endpoint.placer.place(factsOf({ at: 0, input, output: 1 }, row), 0, [])!;
      const { prediction } = this.endpoint.placer;
      this.#placed.set(row, [
        placed,
        prediction.plainTtftUsOf(placed.request),
        prediction.plainItlUsOf(placed.request),
      ]);
      this.#engine.enqueue(row, this.nowUs);
      if (this.nowUs - this.#tickUs < 10e6) continue;
      this.#tickUs = this.nowUs;
      await this.profiles.tick();
      await this.profiles.settled();
    }
  }

  #end(row: number): void {
    const [placed, predictedTtftUs, predictedItlUs] = this.#placed.get(row)!;
    this.#placed.delete(row);
    const { arrivalUs, inputTokens, outputTokens } = this.#table;
    this.endpoint.placer.finish(placed, outputTokens[row]!);
    const dispatchedUs = arrivalUs[row]!;
    this.observed.of('chat', 'vllm')!.finished(
      finishedRequest({
        ...{ replicaId: 'r0', dispatchedUs, predictedTtftUs, predictedItlUs, cachedTokens: 0 },
        ...{ inputTokens: inputTokens[row]!, outputTokens: outputTokens[row]! },
        firstTokenUs: dispatchedUs + this.#outcomes.ttftUs[row]!,
        endedUs: dispatchedUs + this.#outcomes.e2eUs[row]!,
      }),
    );
  }
}

const UNUSED = {
  ...{ model: '', hardware: '', tp: 1, dp: 1, moeCommBackend: '', latencyModel: '', gpuMemoryUtilization: 1 },
  ...{ alphaCoeffs: null, betaCoeffs: null },
};

/** One a second. */
function requests(count: number): RequestTable {
  const random = randomStream(7, 'profiles-drift');
  const table = new RequestTable(count);
  let us = 0;
  for (let i = 0; i < count; i++) {
    const row = table.append();
    us += -Math.log(1 - random.next()) * 1e6;
    table.arrivalUs[row] = Math.round(us);
    table.inputTokens[row] = 32 + Math.floor(1000 * random.next() ** 2);
    table.outputTokens[row] = 16 + Math.floor(200 * random.next() ** 2);
  }
  return table;
}

const decodeUs = ({ costs }: VirtualYard) => costs.step.decodeOnly[0]!.us;

test('a profile is found in virtual time, a slower engine is a drift, and is fitted again', async () => {
  const yard = new VirtualYard();
  await yard.run(5);
  const found = () => yard.profiles.states()[0]!;
  expect(found()).toMatchObject({ isUsed: true, source: 'fitted', drift: null });
  expect(found().profile!.step.decodeOnly[0]!.us / decodeUs(yard)).toBeCloseTo(1, 1);
  expect(yard.observed.of('chat', 'vllm')!.compared).toBeGreaterThan(50);
  expect(yard.observed.of('chat', 'vllm')!.errorsOf('itl').stats()!.p50).toBeLessThan(0.1);
  yard.slowDown(3);
  await yard.run(9);
  expect(yard.events.filter((line) => line.includes('ProfileDrift'))).toEqual([]);
  await yard.run(8);
  const drifts = yard.events.filter((line) => line.includes('ProfileDrift'));
  expect(drifts).toHaveLength(1);
  expect(drifts[0]).toMatch(/^(15|16) warning ProfileDrift: .* everything is slower .*: look at the host$/);
  expect(found()).toMatchObject({ isUsed: true, drift: null });
  expect(found().profile!.step.decodeOnly[0]!.us / decodeUs(yard)).toBeCloseTo(1, 1);
  await yard.live.close();
}, 600_000);
