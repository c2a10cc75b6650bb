import { type RandomStream, randomStream } from '../../kernel/random-stream.js';
import { addPrefill, emptyShape } from '../../replica/latency/batch-shape.js';
import type { BatchShape } from '../../replica/latency/contract.js';
import type { LatencyProfile, RequestCosts, StepCosts } from '../../replica/latency/profile.js';
import { batchTokens, engineLatency, profileLatency, stepTime } from '../../replica/latency/profile-latency.js';
import { GpuLoad } from '../../replica/latency/profile-load.js';
import { RequestTable } from '../../workload/request-table.js';
import type { StepSample } from './steps/step-sample.js';
import type { EngineSettings, ObservedTrace } from './traces/observed-trace.js';
import { replayTrace } from './traces/replay-trace.js';

/** Costs in the order of magnitude of a real engine's, to be found again. */
export const PLANTED: StepCosts = {
  decodeOnly: [
    { tokens: 1, us: 5000 },
    { tokens: 64, us: 5400 },
    { tokens: 256, us: 8100 },
  ],
  withPrefill: [
    { tokens: 1, us: 5200 },
    { tokens: 128, us: 5900 },
    { tokens: 512, us: 12_400 },
    { tokens: 2048, us: 46_000 },
  ],
  decodeContextUs: 0.034,
  mixedContextUs: 0.031,
  sharedContext: 0.75,
  unevenContextUs: 0.035,
  mixedUnevenContextUs: 0.21,
  mixedDecodeUs: 6,
  prefillPairUs: 0.002,
  prefillLongestUs: 1.1,
  prefillRequestUs: 70,
  requestUs: 5,
  launch: null,
};

const NO_REQUEST_COSTS: RequestCosts = { queueingUs: 0, outputTokenUs: 0, postDecodeUs: 0 };

/** A step of some size: most only decode, some have one to three prompts. */
export function randomShape(random: RandomStream, shared = 0): BatchShape {
  const pick = (from: number, to: number) => from + Math.floor(random.next() * (to - from + 1));
  const shape = emptyShape();
  const decodes = pick(1, 256);
  shape.decodes = decodes;
  shape.scheduled = decodes;
  const mean = pick(200, 1500);
  shape.decodeContext = decodes * mean;
  shape.decodeLongest = decodes === 1 ? mean : mean + pick(0, 2500);
  shape.heldTokens = Math.round(shape.decodeContext * (1 - shared * random.next()));
  if (random.next() < 0.4) {
    const prompts = pick(1, 3);
    for (let i = 0; i < prompts; i++) {
      const tokens = pick(16, 600);
      const context = random.next() < 0.3 ? pick(256, 3000) : 0;
      addPrefill(shape, context + tokens, context, tokens, context);
    }
  }
  return shape;
}

/** What the host does for a step. */
function hostTime({ requestUs, host }: StepCosts, { scheduled, prefills, prefillTokens }: BatchShape): number {
  const { stepUs, promptUs, promptTokenUs } = host ?? { stepUs: 0, promptUs: 0, promptTokenUs: 0 };
  return stepUs + requestUs * scheduled + promptUs * prefills + promptTokenUs * prefillTokens;
}

/** The time of a step that is done again and again, without the host: how slow the GPU becomes, and so how loaded it is. */
function timeAlone(costs: StepCosts): (shape: BatchShape) => number {
  const { host: _, slowdown, ...rest } = costs;
  const timeOf = stepTime({ ...rest, requestUs: 0, launch: null, ...(slowdown === undefined ? {} : { slowdown }) });
  if (slowdown === undefined) return (shape) => timeOf(shape, 0);
  const load = new GpuLoad(slowdown);
  return (shape) => {
    let us = timeOf(shape, 0);
    for (let round = 0; round < 5; round++) us = timeOf(shape, load.steady(batchTokens(shape), us));
    return us;
  };
}

/**
 * Steps of an engine with these costs, with errors of about a per cent and occasional pauses. The first part was timed
 * without the host's work; for the others the host's time is known, if `timed`. Before a part of the steps, `rests`,
 * the engine was idle, for a tenth of a second on average.
 */
export function plantedSteps(
  costs: StepCosts,
  steps: number,
  { shared = 0, noise = 0.01, seed = 1, bare = 0.2, timed = false, rests = 0 } = {},
): StepSample[] {
  const random = randomStream(seed, 'planted-steps');
  const served = engineLatency({ step: costs, request: NO_REQUEST_COSTS }, 'fresh');
  const sizes = new Set<number>();
  const alone = timeAlone(costs);
  let startUs = 0;
  return Array.from({ length: steps }, (_, i) => {
    const inService = i >= bare * steps;
    const shape = randomShape(random, shared);
    const error = noise * (random.next() + random.next() + random.next() - 1.5);
    const pauseUs = noise > 0 && random.next() < 0.01 ? 5000 : 0;
    const restUs = rests > 0 && random.next() < rests ? -Math.log(1 - random.next()) * 100_000 : 0;
    startUs += restUs;
    const trueUs = inService ? served.stepUs(shape, startUs) : Math.trunc(alone(shape));
    const us = trueUs * (1 + error) + pauseUs;
    startUs += trueUs;
    const tokens = batchTokens(shape);
    const firstOfSize = inService && shape.prefills > 0 && !sizes.has(tokens);
    if (firstOfSize) sizes.add(tokens);
    const host = inService && timed ? { hostUs: hostTime(costs, shape) * (1 + error) + pauseUs } : {};
    return { shape, us, ...host, restUs, count: 1, inService, firstOfSize };
  });
}

export const ENGINE: EngineSettings = {
  totalKvBlocks: 20_000,
  blockSize: 16,
  maxModelLen: 32_768,
  maxNumSeqs: 256,
  maxNumBatchedTokens: 2048,
  longPrefillTokenThreshold: 0,
  scheduler: 'fcfs',
  preemptionPolicy: 'fcfs',
  engineRules: 'vllm-v1',
};

/** Requests at a rate that rises from a tenth of the given one to all of it. */
export function risingLoad(requests: number, ratePerS: number, seed = 1): RequestTable {
  const random = randomStream(seed, 'planted-requests');
  const table = new RequestTable(requests);
  let us = 0;
  for (let i = 0; i < requests; i++) {
    const row = table.append();
    us += (-Math.log(1 - random.next()) * 1e6) / (ratePerS * (0.1 + (0.9 * i) / requests));
    table.arrivalUs[row] = Math.round(us);
    table.inputTokens[row] = 32 + Math.floor(1500 * random.next() ** 2);
    table.outputTokens[row] = 16 + Math.floor(300 * random.next() ** 2);
  }
  return table;
}

/**
 * Groups of equal requests that arrive together, one group after the other: nothing depends on small differences in
 * time, so that latencies are continuous in the step times.
 */
export function ladder(groups: number, seed = 1): RequestTable {
  const random = randomStream(seed, 'planted-ladder');
  const sizes = [1, 1, 2, 4, 8, 16, 32, 64, 96, 128];
  const table = new RequestTable(groups * 36);
  for (let group = 0; group < groups; group++) {
    const input = [64, 400, 1800][random.below(3)]!;
    const output = [64, 128, 200][random.below(3)]!;
    for (let i = 0; i < sizes[group % sizes.length]!; i++) {
      const row = table.append();
      table.arrivalUs[row] = group * 20e6;
      table.inputTokens[row] = input;
      table.outputTokens[row] = output;
    }
  }
  return table;
}

/** What an engine with this profile would have been seen to do. */
export function plantedTrace(
  name: string,
  table: RequestTable,
  profile: Pick<LatencyProfile, 'step' | 'request'>,
  changes: Partial<ObservedTrace> = {},
): ObservedTrace {
  const none = new Float64Array(0);
  const trace: ObservedTrace = {
    ...{ name, table, ttftUs: none, e2eUs: none, warmUp: 0, maxInFlight: Number.POSITIVE_INFINITY, engine: ENGINE },
    ...changes,
  };
  const { ttftUs, e2eUs } = replayTrace(trace, profileLatency(profile));
  return { ...trace, ttftUs, e2eUs };
}
