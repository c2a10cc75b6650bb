import type { ModelSpec } from '../catalogue/contract.js';
import { checkKvHeads, checkParallelism } from '../catalogue/parallelism-check.js';
import { missingProfile } from '../errors.js';
import type { LatencyModelKind } from './contract.js';
import { moeCommBackend } from './moe-comm.js';
import { profileLatency } from './profile-latency.js';

/** A point of a time that depends on a step's tokens; between two points it is a straight line. */
export interface TokenPoint {
  tokens: number;
  us: number;
}

/** The costs of a step, part by part, in microseconds. */
export interface StepCosts {
  /** By the step's tokens: for decode-only steps, and for steps with prompts. */
  decodeOnly: TokenPoint[];
  withPrefill: TokenPoint[];
  /** Per token of context of the requests that decode, in the two kinds of steps. */
  decodeContextUs: number;
  mixedContextUs: number;
  /** What a token in a block that requests share costs of that: it is read from memory once for all of them. 0 to 1. */
  sharedContext: number;
  /** Per token by which the longest context exceeds the mean one; in decode-only steps times the square root of their number. */
  unevenContextUs: number;
  mixedUnevenContextUs: number;
  /** Per request that decodes in a step with prompts. */
  mixedDecodeUs: number;
  /** Attention of prompts: per pair of tokens, or per token of the longest, whichever is more. */
  prefillPairUs: number;
  prefillLongestUs: number;
  /** Per request that works on its prompt. */
  prefillRequestUs: number;
  /** The host's time for each request of the step, and its other time, while the GPU is idle. */
  requestUs: number;
  /** Per pair of requests of the step: what each costs grows with their number. */
  crowdUs?: number;
  host?: HostCosts;
  /** Steps of prompts that are launched kernel by kernel. */
  launch: LaunchCosts | null;
  /** How the GPU slows down as it computes. */
  slowdown?: Slowdown;
}

/** The host's work around a step: for each one, for each request that works on its prompt, and for each token of prompts. */
export interface HostCosts {
  stepUs: number;
  promptUs: number;
  promptTokenUs: number;
}

/**
 * A GPU takes longer for the same step when it has computed much just before. Its load is the share of that time in
 * which it computed as many tokens as it can.
 */
export interface Slowdown {
  /** The slowdown at full load, as a share; it grows with the square of the load. */
  share: number;
  /** The time of a token at full load. */
  tokenUs: number;
  /** The time after which past computation counts a third. */
  overUs: number;
}

/**
 * Steps of prompts with more tokens than this are launched kernel by kernel, and the GPU waits about this long for
 * that.
 */
export interface LaunchCosts {
  aboveTokens: number;
  us: number;
  /** The extra time of a step when the engine launches this many tokens for the first time. */
  firstUs: number;
}

/** The costs of a request besides its steps, whole microseconds: see `LatencyModel`. */
export interface RequestCosts {
  queueingUs: number;
  outputTokenUs: number;
  postDecodeUs: number;
}

/** Settings of the engine that was measured: the defaults of flags. */
export interface ProfileScheduler {
  engineRules?: string;
  blockSize?: number;
  totalKvBlocks?: number;
  maxModelLen?: number;
  maxNumSeqs?: number;
  maxNumBatchedTokens?: number;
  longPrefillTokenThreshold?: number;
}

/** What the size of a KV cache follows from, so that a model or GPU need not be in the catalogue. */
export interface ProfileDimensions {
  model?: Omit<ModelSpec, 'name'>;
  gpu?: { memoryGib: number };
}

/** How far step times may be off, as shares: all of a step, and the host's work, which differs from run to run. */
export interface ProfileUncertainty {
  step?: number;
  host?: number;
}

/** A latency model as data: one engine on one kind of GPU, from its own measurements. */
export interface LatencyProfile {
  version: 1;
  name: string;
  model: string;
  hardware: string;
  tp: number;
  step: StepCosts;
  request: RequestCosts;
  scheduler: ProfileScheduler;
  /** Of the model and the GPU, where they were known. */
  dimensions?: ProfileDimensions;
  uncertainty?: ProfileUncertainty;
}

export const profile: LatencyModelKind = {
  name: 'profile',
  summary: 'Step times of a measured engine, from the file that --latency-profile names.',
  create(setup) {
    const { model, parallelism } = setup;
    checkParallelism(model, parallelism.tp, parallelism.dp);
    checkKvHeads(model, parallelism.tp);
    moeCommBackend(parallelism.moeCommBackend);
    if (setup.profile === undefined) throw missingProfile();
    return profileLatency(setup.profile);
  },
};
