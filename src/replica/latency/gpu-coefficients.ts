/** How near an engine comes to a GPU's data sheet, and what it adds. Times in microseconds. */
export interface PhysicsCoefficients {
  /** Shares of the data sheet that are reached: bandwidth for weights and context, rate for matrices and attention. */
  weightShare: number;
  contextShare: number;
  matrixShare: number;
  attentionShare: number;
  /** How reading weights hides behind computing tokens: 1, one after the other; the larger, the more the longer one counts. */
  overlap: number;
  /** Rate at which GPUs of a split model exchange activations. */
  linkGBs: number;
  /** Per layer of a step: always, more when the model is split, more with prompts; the least of a step that is launched. */
  layerUs: number;
  splitLayerUs: number;
  promptLayerUs: number;
  launchLayerUs: number;
  /** Per step, per request of it, per pair of requests of it, per request that works on its prompt. */
  stepUs: number;
  requestUs: number;
  crowdUs: number;
  promptUs: number;
  /** How much the longest context beyond the mean costs, and a token in a shared block, of what a token costs. */
  unevenContext: number;
  sharedContext: number;
  /** Before a request is in the engine's queue. */
  queueingUs: number;
}

/** Usual errors in per cent, of runs that the coefficients were not fitted on. */
export interface ExpectedError {
  e2e: number;
  itl: number;
  ttft: number;
  ttftP99: number;
}

/** GPUs of one kind: the coefficients fitted to runs on them, where they come from and how far to believe them. */
export interface GpuFamily {
  name: string;
  coefficients: PhysicsCoefficients;
  /** Rules of the engine that was measured. */
  engineRules: string;
  /** What was fitted. */
  from: string;
  /** What no run has tried. */
  untried: string;
  expected: ExpectedError;
  /** The same where requests wait for a place in the batch. */
  expectedSaturated: ExpectedError;
}

/** The family of GPUs without a measured run. */
export const UNMEASURED = 'other';
