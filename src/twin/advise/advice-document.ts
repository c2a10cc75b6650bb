import type { PolicyChoice } from '../../simulator/cluster-config.js';
import type { WhatIfMetric } from '../whatif/recorded-metrics.js';
import type { WhatIfDocument } from '../whatif/whatif-document.js';
import type { SwitchCost } from './switch-cost.js';

/** The best policy, and how much better the metric gets with it. */
export interface Advice {
  policy: string;
  routing: PolicyChoice;
  was: number;
  predicted: number;
  /** Relative to what was, as shares, with the 95 % interval. */
  change: number;
  changeLow: number;
  changeHigh: number;
}

/** Which policy is best for recorded traffic. Plain data, printed as JSON. */
export interface AdviceDocument extends Omit<WhatIfDocument, 'verdict'> {
  /** One or two sentences: what to do, and what it costs. */
  verdict: string;
  metric: WhatIfMetric;
  present: PolicyChoice;
  /** Null when no policy is better for certain. */
  best: Advice | null;
  cost: SwitchCost | null;
}
