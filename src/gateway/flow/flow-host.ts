import type { FleetView } from '../../policy/fleet-view.js';
import type { RequestFacts } from '../request/request-facts.js';

/** What flow control needs of its endpoint. */
export interface FlowHost {
  nowUs(): number;
  /** The length of a request's prompt. Throws an ApiError when it has none that could be measured. */
  tokensOf(facts: RequestFacts): number;
  /** Fills the policy host's view with the fleet for requests of a model. */
  lookFor(model: string, nowUs: number): void;
  /** The fleet as saturation detectors see it. */
  saturationView(nowUs: number): FleetView;
}
