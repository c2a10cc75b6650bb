import type { BatchShape, LatencyModel } from './contract.js';
import type { LatencyProfile, LaunchCosts, StepCosts } from './profile.js';
import { GpuLoad } from './profile-load.js';
import { TokenCurve } from './token-curve.js';
import { stepDurationUs } from './whole-us.js';

/** By how much the time of launching varies from step to step: one in ten. */
const LAUNCH_SPREAD = 0.1;
const NO_HOST = { stepUs: 0, promptUs: 0, promptTokenUs: 0 };

/** Whether an engine has served for a while, and launched steps of every size, or has just been started. */
export type EngineAge = 'warm' | 'fresh';

type Costs = Pick<LatencyProfile, 'step' | 'request'>;
type StepTime = LatencyModel['stepUs'];

/**
 * The latency model that a profile describes, for any number of engines. What it has to remember of each it remembers by the
 * shape that the engine hands over: every engine has one, and uses it for all its steps.
 */
export function profileLatency({ step, request }: Costs, age: EngineAge = 'warm'): LatencyModel {
  const timeOf = stepTime(step);
  const common = { ...request, readsContexts: true };
  if (!remembers(step, age)) return { ...common, stepUs: (shape) => stepDurationUs(timeOf(shape, 0)) };
  const engines = new WeakMap<BatchShape, StepTime>();
  const engineOf = (shape: BatchShape) => {
    const known = engines.get(shape);
    if (known !== undefined) return known;
    const engine = engineTime(step, age, timeOf);
    engines.set(shape, engine);
    return engine;
  };
  return { ...common, stepUs: (shape, startUs) => engineOf(shape)(shape, startUs) };
}

/** The latency model of one engine in one run, for all batch shapes. */
export function engineLatency({ step, request }: Costs, age: EngineAge = 'warm'): LatencyModel {
  return { ...request, readsContexts: true, stepUs: engineTime(step, age, stepTime(step)) };
}

/** Whether the time of a step depends on the steps before it. */
function remembers({ slowdown, launch }: StepCosts, age: EngineAge): boolean {
  return slowdown !== undefined || (age === 'fresh' && launch !== null && launch.firstUs > 0);
}

/** Step times of an engine that remembers what its GPU has done, and, as long as it is fresh, what it has launched. */
function engineTime({ slowdown, launch }: StepCosts, age: EngineAge, timeOf: LoadedTime): StepTime {
  const load = slowdown === undefined ? null : new GpuLoad(slowdown);
  const firstUs = age === 'fresh' && launch !== null ? firstTimes(launch) : () => 0;
  let endUs = 0;
  return (shape, startUs = endUs) => {
    if (load !== null && startUs > endUs) load.rest(startUs - endUs);
    const us = stepDurationUs(timeOf(shape, load === null ? 0 : load.share) + firstUs(shape));
    load?.add(batchTokens(shape), us);
    endUs = startUs + us;
    return us;
  };
}

/** How much longer steps take an engine that has launched nothing yet. */
function firstTimes({ aboveTokens, firstUs }: LaunchCosts): (shape: BatchShape) => number {
  const launched = new Set<number>();
  return (shape) => {
    const tokens = launchedTokens(shape, aboveTokens);
    if (tokens === 0 || launched.has(tokens)) return 0;
    launched.add(tokens);
    return firstUs;
  };
}

/** Tokens of a step that is launched kernel by kernel; 0 for any other. */
export function launchedTokens(shape: BatchShape, aboveTokens: number): number {
  const tokens = batchTokens(shape);
  return shape.prefills > 0 && tokens > aboveTokens ? tokens : 0;
}

export function batchTokens({ decodes, prefillTokens }: BatchShape): number {
  return decodes + prefillTokens;
}

type LoadedTime = (shape: BatchShape, load: number) => number;

/**
 * The time of a step on a warm engine whose GPU is under this load, 0 to 1.
 * @param factor the result is this many times as long, in whole microseconds: fractions are allocated wherever the compiler does not
 * inline the call. By default the exact time
 */
export function stepTime(costs: StepCosts, factor?: number): LoadedTime {
  const isWhole = factor !== undefined;
  const scale = factor ?? 1;
  const decodeOnly = new TokenCurve(costs.decodeOnly);
  const withPrefill = new TokenCurve(costs.withPrefill);
  const { decodeContextUs, mixedContextUs, unevenContextUs, mixedUnevenContextUs, mixedDecodeUs } = costs;
  const { prefillPairUs, prefillLongestUs, prefillRequestUs, requestUs } = costs;
  const host = costs.host ?? NO_HOST;
  const crowdUs = costs.crowdUs ?? 0;
  const slowdown = costs.slowdown?.share ?? 0;
  const saved = 1 - costs.sharedContext;
  const launchedAbove = costs.launch?.aboveTokens ?? Number.POSITIVE_INFINITY;
  const launchUs = costs.launch?.us ?? 0;
  return (shape, load) => {
    if (shape.scheduled === 0) return 1;
    const { decodes, prefills } = shape;
    const context = shape.decodeContext - saved * sharedTokens(shape);
    const uneven = unevenContext(shape);
    const slower = 1 + slowdown * load * load;
    const ownUs = host.stepUs + (requestUs + crowdUs * shape.scheduled) * shape.scheduled;
    if (prefills === 0) {
      const attentionUs = decodeContextUs * context + unevenContextUs * Math.sqrt(decodes) * uneven;
      const us = ownUs + slower * (decodeOnly.at(decodes) + attentionUs);
      return isWhole ? Math.round(scale * us) : us;
    }
    const tokens = decodes + shape.prefillTokens;
    const promptsUs =
      Math.max(prefillPairUs * shape.prefillPairs, prefillLongestUs * shape.prefillLongest) +
      prefillRequestUs * prefills;
    const decodesUs = mixedDecodeUs * decodes + mixedContextUs * context + mixedUnevenContextUs * uneven;
    const gpuUs = slower * (withPrefill.at(tokens) + promptsUs + decodesUs);
    const hostUs = ownUs + host.promptUs * prefills + host.promptTokenUs * shape.prefillTokens;
    const us = hostUs + (tokens > launchedAbove ? notBefore(launchUs, gpuUs) : gpuUs);
    return isWhole ? Math.round(scale * us) : us;
  };
}

/** Tokens of context beyond those that memory holds: prompts share their blocks. */
export function sharedTokens(shape: BatchShape): number {
  return Math.max(0, shape.decodeContext - shape.heldTokens);
}

/** By how much the longest context exceeds the mean: the other parts of the GPU wait for the one that reads it. */
export function unevenContext(shape: BatchShape): number {
  return shape.decodes === 0 ? 0 : Math.max(0, shape.decodeLongest - shape.decodeContext / shape.decodes);
}

/** The later of launching and computing, on the mean: where the two are close, launching is sometimes the later one. */
export function notBefore(launchUs: number, us: number): number {
  const spreadUs = LAUNCH_SPREAD * launchUs;
  return spreadUs === 0 ? us : us + spreadUs * Math.log1p(Math.exp((launchUs - us) / spreadUs));
}
