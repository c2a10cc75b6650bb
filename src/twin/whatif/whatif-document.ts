import type { PolicyChoice } from '../../simulator/cluster-config.js';
import type { WhatIfMetric } from './recorded-metrics.js';

/** The result of a question. Plain data, printed as JSON. */
export interface WhatIfDocument {
  /** The sentence about the first alternative, and what to know before trusting it. */
  verdict: string;
  recording: RecordingFacts;
  baseline: BaselineCheck;
  alternatives: WhatIfAlternative[];
  notes: string[];
}

export interface RecordingFacts {
  file: string;
  requests: number;
  /** Requests before these that were simulated as well, to fill caches. */
  warmUp: number;
  /** Complete responses of replicas, which latencies are measured of. */
  responses: number;
  durationS: number;
  replicas: string[];
  /** Tokens of a recorded block; null where no request has one. */
  blockTokens: number | null;
  /** Later turns follow the responses before them, or come by a schedule but after these; otherwise all arrive at their recorded times. */
  sessions: 'closed-loop' | 'scheduled' | 'fixed';
}

/** The recording simulated as it was, every request on the replica that served it, against what was measured. */
export interface BaselineCheck {
  profile: { name: string; source: 'given' | 'fitted'; notes: string[] };
  /** How far step times may be off, as a share: the least and greatest are simulated as well. */
  stepError: number;
  metrics: BaselineMetric[];
  /** Why differences cannot be claimed; null where they can. */
  refused: string | null;
}

export interface BaselineMetric {
  metric: WhatIfMetric;
  measured: number;
  simulated: number;
  /** Simulated over measured, less 1; of a share the difference. */
  error: number;
}

export interface WhatIfAlternative {
  /** `lmetric`, `round-robin on 3 replicas`. */
  name: string;
  routing: PolicyChoice;
  replicas: number;
  hardware: string;
  /** Why nothing is claimed; null where something is. */
  refused: string | null;
  verdict: string;
  metrics: WhatIfPrediction[];
  /** Share of requests that this fleet would refuse. */
  rejected: number;
  /** Requests per replica in the first run. */
  perReplica: number[];
  /** Runs that estimate chance. */
  runs: number;
}

export interface WhatIfPrediction {
  metric: WhatIfMetric;
  /** Measured in the recording. */
  was: number;
  predicted: number;
  /** The 95 % interval of what would be measured. */
  low: number;
  high: number;
  /** Relative to what was, as shares; of a share in points of 0..1. */
  change: number;
  changeLow: number;
  changeHigh: number;
  /** Whether the interval is all on one side of what was. */
  claim: 'better' | 'worse' | 'none';
}
