import type { PlanDocument } from '../../experiment/plan/plan-document.js';
import type { BaselineCheck, RecordingFacts } from '../whatif/whatif-document.js';

/** The least fleet of an endpoint for its SLOs. Plain data, printed as JSON. */
export interface FleetPlan {
  /** One sentence: the fleet, or why there is none. */
  verdict: string;
  /** Null for traffic that was not recorded. */
  recording: RecordingFacts | null;
  baseline: BaselineCheck | null;
  /** How many replicas serve at present; null where nothing was recorded. */
  present: number | null;
  plan: Omit<PlanDocument['plan'], 'command'>;
  /** One: the engines that serve the endpoint. Empty when nothing could be planned. */
  candidates: PlanDocument['candidates'];
  notes: string[];
}
