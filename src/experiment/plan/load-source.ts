import type { TraceRecipe, WorkloadRecipe } from '../recipes/workload-recipe.js';

/** Traffic that can be offered at any rate and for any time. */
export interface LoadSource {
  /** Requests per second at a factor of 1. */
  baseRate: number;
  /** Whether seeds give different requests when so many are needed. */
  variesWithSeed(requests: number): boolean;
  /** At least `requests` requests at `factor` times the base rate. */
  recipe(factor: number, requests: number): WorkloadRecipe;
  /** The same with about so many requests, even where more are recorded. */
  sample(factor: number, requests: number): WorkloadRecipe;
  /** How many requests a run has then. */
  length(requests: number): number;
}

type SpecRecipe = Extract<WorkloadRecipe, { kind: 'spec' }>;

/** Generated traffic. Its specification has a rate, and ends after a number of requests only. */
export function generatedLoad({ spec, options }: SpecRecipe): LoadSource {
  const { horizon: _, num_requests: __, ...endless } = spec;
  const { horizonUs: ___, ...kept } = options;
  const baseRate = spec.aggregate_rate!;
  const recipe = (factor: number, requests: number): SpecRecipe => ({
    kind: 'spec',
    spec: { ...endless, aggregate_rate: baseRate * factor },
    options: { ...kept, numRequests: requests },
  });
  return {
    baseRate,
    variesWithSeed: () => true,
    recipe,
    sample: recipe,
    length: (requests) => requests,
  };
}

/** Recorded traffic: as recorded where it is long enough, else lengthened by its own statistics. */
export function recordedLoad(trace: TraceRecipe, recorded: { requests: number; requestsPerS: number }): LoadSource {
  const isEnough = (requests: number) => requests <= recorded.requests;
  return {
    baseRate: recorded.requestsPerS,
    variesWithSeed: (requests) => !isEnough(requests),
    recipe: (factor, requests) => ({
      ...trace,
      rateFactor: factor,
      ...(isEnough(requests) ? {} : { resampled: requests }),
    }),
    sample: (factor, requests) => ({ ...trace, rateFactor: factor, resampled: requests }),
    length: (requests) => Math.max(requests, recorded.requests),
  };
}
