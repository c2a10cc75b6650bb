import type { BatchShape, LatencyModel } from './contract.js';
import type { LatencyProfile, LaunchCosts, StepCosts } from './profile.js';
import { TokenCurve } from './token-curve.js';
import { stepDurationUs } from './whole-us.js';

/** By how much the time of launching varies from step to step: one in ten. */
const LAUNCH_SPREAD = 0.1;

/** Whether an engine has served for a while, and launched steps of every size, or has just been started. */
export type EngineAge = 'warm' | 'fresh';

/** The latency model that a profile describes. That of a fresh engine remembers its steps: it is for one engine, and one run. */
export function profileLatency(
  { step, request }: Pick<LatencyProfile, 'step' | 'request'>,
  age: EngineAge = 'warm',
): LatencyModel {
  const warm = stepTime(step);
  const ages = age === 'fresh' && step.launch !== null && step.launch.firstUs > 0;
  return { ...request, readsContexts: true, stepUs: ages ? firstTimes(warm, step.launch!) : warm };
}

/** Step times of an engine that has launched nothing yet. */
function firstTimes(warm: LatencyModel['stepUs'], { aboveTokens, firstUs }: LaunchCosts): LatencyModel['stepUs'] {
  const launched = new Set<number>();
  return (shape) => {
    const tokens = launchedTokens(shape, aboveTokens);
    if (tokens === 0 || launched.has(tokens)) return warm(shape);
    launched.add(tokens);
    return warm(shape) + Math.round(firstUs);
  };
}

/** Tokens of a step that is launched piece by piece; 0 for any other. */
export function launchedTokens({ decodes, prefills, prefillTokens }: BatchShape, aboveTokens: number): number {
  const tokens = decodes + prefillTokens;
  return prefills > 0 && tokens > aboveTokens ? tokens : 0;
}

function stepTime(costs: StepCosts): LatencyModel['stepUs'] {
  const decodeOnly = new TokenCurve(costs.decodeOnly);
  const withPrefill = new TokenCurve(costs.withPrefill);
  const { decodeContextUs, mixedContextUs, unevenContextUs, mixedUnevenContextUs, mixedDecodeUs } = costs;
  const { prefillPairUs, prefillLongestUs, prefillRequestUs, requestUs } = costs;
  const saved = 1 - costs.sharedContext;
  const launchedAbove = costs.launch?.aboveTokens ?? Number.POSITIVE_INFINITY;
  const launchUs = costs.launch?.us ?? 0;
  return (shape: BatchShape): number => {
    if (shape.scheduled === 0) return 1;
    const { decodes } = shape;
    const context = shape.decodeContext - saved * sharedTokens(shape);
    const uneven = unevenContext(shape);
    const ownUs = requestUs * shape.scheduled;
    if (shape.prefills === 0) {
      const attentionUs = decodeContextUs * context + unevenContextUs * Math.sqrt(decodes) * uneven;
      return stepDurationUs(decodeOnly.at(decodes) + ownUs + attentionUs);
    }
    const tokens = decodes + shape.prefillTokens;
    const promptsUs =
      Math.max(prefillPairUs * shape.prefillPairs, prefillLongestUs * shape.prefillLongest) +
      prefillRequestUs * shape.prefills;
    const decodesUs = mixedDecodeUs * decodes + mixedContextUs * context + mixedUnevenContextUs * uneven;
    const us = withPrefill.at(tokens) + ownUs + promptsUs + decodesUs;
    return stepDurationUs(tokens > launchedAbove ? notBefore(launchUs, us) : us);
  };
}

/** Tokens of context beyond those that memory holds: prompts share their blocks. */
export function sharedTokens(shape: BatchShape): number {
  return Math.max(0, shape.decodeContext - shape.heldTokens);
}

/** By how much the longest context exceeds the mean: the rest of the GPU waits for the one that reads it. */
export function unevenContext(shape: BatchShape): number {
  return shape.decodes === 0 ? 0 : Math.max(0, shape.decodeLongest - shape.decodeContext / shape.decodes);
}

/** The later of launching and computing, on the mean: where the two are close, launching is sometimes the later one. */
export function notBefore(launchUs: number, us: number): number {
  const spreadUs = LAUNCH_SPREAD * launchUs;
  return spreadUs === 0 ? us : us + spreadUs * Math.log1p(Math.exp((launchUs - us) / spreadUs));
}
