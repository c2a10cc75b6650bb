import { createFleetView } from '../../policy/fleet-view.js';
import { type FlowControlSettings, saturationLimits } from '../../policy/queueing/flow-control-settings.js';
import {
  type SaturationDetector,
  type SaturationLimits,
  saturationDetector,
} from '../../policy/queueing/saturation.js';
import type { FlowHost } from './flow-host.js';

/** For detectors that do not look at it. */
const NO_FLEET = createFleetView(0);

/** How full the fleet is, by the detector and the limits of the policy. */
export class SaturationGauge {
  readonly #host: FlowHost;
  #detector: SaturationDetector = saturationDetector('never');
  #limits: SaturationLimits = { queueDepth: 0, kvUsed: 0, maxConcurrency: 0 };

  constructor(host: FlowHost) {
    this.#host = host;
  }

  configure(settings: FlowControlSettings): void {
    this.#detector = saturationDetector(settings.saturationDetector);
    this.#limits = saturationLimits(settings);
  }

  measure(nowUs: number): number {
    const view = this.#detector.reads.length === 0 ? NO_FLEET : this.#host.saturationView(nowUs);
    return this.#detector.measure(view, this.#limits);
  }
}
