/** A replica as its router knows it at the moment of a prediction. One object is reused: a predictor keeps nothing of it. */
export interface PredictedLoad {
  /** Requests past their first token, and the prompt tokens of those. */
  decoding: number;
  decodeTokens: number;
  /** Requests without a first token, and what of their prompts was not in the cache. */
  prefilling: number;
  pendingPrefillTokens: number;
  /** How long the replica has worked on the first of those. */
  prefillElapsedUs: number;
  /** Used share of the KV cache, 0..1, as reported. */
  kvUsed: number;
  /** Mean time from first token to end of requests on this replica; 0 when unknown. */
  decodeUs: number;
}

/**
 * Predicts the times of one request on one replica from how fast its engine computes. A pure function of its arguments; it
 * allocates nothing, so results are fields: returning a fraction would allocate a number.
 */
export interface LatencyPredictor {
  /** Time to first token, time per further token, and how long the request's own prompt keeps the replica busy. */
  ttftUs: number;
  itlUs: number;
  promptUs: number;
  /** What the request costs all requests on the replica together, its own time included; absent where that is not known. */
  totalUs?: number;
  /** Its results are the truth: nothing is to be learnt from what requests take. */
  readonly isExact?: true;
  /** @param uncachedTokens of its input tokens, those that the replica has to compute */
  predict(inputTokens: number, uncachedTokens: number, load: PredictedLoad): void;
}

/** The predictor of a replica by its id; null where it is not known how fast the replica is. */
export type PredictorSource = (replica: string) => LatencyPredictor | null;

/** How far a prediction was corrected by what the replica did before. */
export const CORRECTION = {
  /** Too few responses to tell. */
  none: 0,
  /** By the factor given. */
  applied: 1,
  /** The replica differs from its profile by more than a correction may make up. */
  limited: 2,
  /** Corrected predictions were worse than plain ones, which are used. */
  off: 3,
} as const;

/** Predictions of the present request, one slot per replica; NaN where its speed is not known. */
export interface LatencyPredictions {
  ttftUs: Float64Array;
  itlUs: Float64Array;
  promptUs: Float64Array;
  /** NaN also where only the request's own times are predicted. */
  totalUs: Float64Array;
  /** Corrected TTFT / plain TTFT, and one of CORRECTION. */
  factor: Float64Array;
  correction: Uint8Array;
}

export function createPredictions(replicas: number): LatencyPredictions {
  return {
    ttftUs: new Float64Array(replicas).fill(Number.NaN),
    itlUs: new Float64Array(replicas).fill(Number.NaN),
    promptUs: new Float64Array(replicas).fill(Number.NaN),
    totalUs: new Float64Array(replicas).fill(Number.NaN),
    factor: new Float64Array(replicas).fill(1),
    correction: new Uint8Array(replicas),
  };
}
