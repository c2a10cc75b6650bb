import type { LatencyModel } from '../contract.js';
import type { LatencyProfile } from '../profile.js';
import { stepTime } from '../profile-latency.js';
import { type PredictedEngine, StepPredictor } from './step-predictor.js';

/** The share of its time in which a GPU is assumed to compute: models with a memory of earlier steps need one. */
const ASSUMED_LOAD = 0.5;
/** Of engines whose settings are not known: vLLM's defaults. */
const SEATS = 256;
const BATCHED_TOKENS = 8192;

/** Predicts with the measured step times of an engine. @param factor how many times as long its steps take */
export function profilePredictor(profile: LatencyProfile, factor = 1, engine = profiledEngine(profile)): StepPredictor {
  const timeOf = stepTime(profile.step, factor);
  return new StepPredictor((shape) => timeOf(shape, ASSUMED_LOAD), engine);
}

/** A simulated replica, as far as predictions depend on it. */
interface ModelledEngine {
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
  totalKvBlocks: number;
  blockSize: number;
  latencyProfile?: LatencyProfile;
}

/** Predicts with the model of a simulated replica. @param factor how many times as long its steps take */
export function modelPredictor(latency: LatencyModel, replica: ModelledEngine, factor = 1): StepPredictor {
  const engine = {
    queueingUs: latency.queueingUs,
    maxNumSeqs: replica.maxNumSeqs,
    maxNumBatchedTokens: replica.maxNumBatchedTokens,
    kvTokens: replica.totalKvBlocks * replica.blockSize,
  };
  if (replica.latencyProfile !== undefined) return profilePredictor(replica.latencyProfile, factor, engine);
  return new StepPredictor((shape) => Math.round(factor * latency.stepUs(shape)), engine);
}

function profiledEngine({ request, scheduler }: LatencyProfile): PredictedEngine {
  const { blockSize = 16, maxNumBatchedTokens = BATCHED_TOKENS, maxNumSeqs = SEATS, totalKvBlocks = 0 } = scheduler;
  return { queueingUs: request.queueingUs, maxNumSeqs, maxNumBatchedTokens, kvTokens: totalKvBlocks * blockSize };
}
