import { EmulatedReplica, type LiveSequence } from '../../src/emulator/emulated-replica.js';
import { ManualClock } from '../../src/emulator/virtual-clocks.fixture.js';
import { type FakeRequest, fakeRequests, fakeTable } from '../../src/replica/fake-replica.fixture.js';
import type { LatencyModel } from '../../src/replica/latency/contract.js';
import { Replica } from '../../src/replica/replica.js';
import type { ReplicaModelConfig } from '../../src/replica/replica-model-config.js';
import { PromptKeys } from '../../src/workload/prompt-keys.js';

/** An engine in virtual time behind a gateway in virtual time. */
export interface VirtualEngine {
  readonly replica: Replica;
  /** When something happens in it next. */
  readonly nextUs: number;
  /** Runs everything before a moment. */
  runBefore(us: number): void;
  /** Runs the next thing alone. */
  runNext(): void;
  take(request: number, atUs: number): void;
}

/** What happens to requests in an engine, at the start of the step in which it happens. */
export interface EngineEvents {
  firstToken(request: number, atUs: number): void;
  left(request: number, completed: boolean, atUs: number): void;
}

export type NewEngine = (
  config: ReplicaModelConfig,
  latency: LatencyModel,
  list: readonly FakeRequest[],
  events: EngineEvents,
) => VirtualEngine;

/**
 * The emulated engine with a manual clock. It takes requests after what it has done, so it cannot be kept in step; its prompts
 * share no blocks.
 */
export const emulatedEngine: NewEngine = (config, latency, list, events) => {
  const clock = new ManualClock();
  const live = new EmulatedReplica(config, latency, clock);
  const { replica } = live;
  const requests = new Map<number, number>();
  let taken = -1;
  // Clients see the end of a response when its last token is out. By the classic rules the simulator's router knows it a step earlier.
  const enqueue = replica.enqueue.bind(replica);
  replica.enqueue = (row, atUs) => {
    requests.set(row, taken);
    enqueue(row, atUs);
  };
  const leave = live.left.bind(live);
  live.left = (row, completed, atUs) => {
    leave(row, completed, atUs);
    events.left(requests.get(row)!, completed, atUs);
  };
  live.firstToken = (row?: number, atUs?: number) => events.firstToken(requests.get(row!)!, atUs!);
  return {
    replica,
    get nextUs() {
      return clock.nextUs;
    },
    runBefore(us) {
      while (clock.nextUs < us) clock.runTo(clock.nextUs);
      // Its time is that before the moment, so that what comes then comes before what it does then.
      if (us < Number.POSITIVE_INFINITY) clock.runTo(us - 1);
    },
    runNext: () => clock.runTo(clock.nextUs),
    take(request, atUs) {
      taken = request;
      live.submit(sequenceOf(list[request]!, request, config.blockSize), atUs);
    },
  };
};

/** The model inside the emulated engine, without a clock: for tests of the very moment in which something ends. */
export const bareEngine: NewEngine = (config, latency, list, events) => {
  const table = fakeTable(list);
  const requests = { ...fakeRequests(table), keys: new PromptKeys(table, config.blockSize) };
  const replica = new Replica(config, latency, requests, events, Number.POSITIVE_INFINITY);
  return {
    replica,
    get nextUs() {
      return replica.nextUs;
    },
    runBefore: (us) => replica.advance(us),
    runNext: () => replica.runNext(),
    take: (request, atUs) => replica.enqueue(request, atUs),
  };
};

/** Prompts that have nothing in common. */
function sequenceOf({ input, output = 1 }: FakeRequest, request: number, blockSize: number): LiveSequence {
  const keys = Int32Array.from({ length: Math.floor((input + output) / blockSize) }, (_, i) => request * 1000 + i);
  return { inputTokens: input, outputTokens: output, keys, produced: () => {}, ended: () => {} };
}
