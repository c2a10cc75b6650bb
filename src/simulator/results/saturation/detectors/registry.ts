import type { DetectorSettings } from '../../../cluster-config.js';
import { BacklogDriftDetector } from './backlog-drift-detector.js';
import { CompositeDetector } from './composite-detector.js';
import type { LoadDetector } from './load-detector.js';
import { ThresholdDetector } from './threshold-detector.js';

/** @param arrivalsUs how long requests arrived for */
type CreateDetector = (settings: DetectorSettings, arrivalsUs: number) => LoadDetector;

const DETECTORS: Readonly<Record<string, CreateDetector>> = {
  composite: () => new CompositeDetector(),
  threshold: ({ thresholdMs }) => new ThresholdDetector(thresholdMs),
  'backlog-drift': ({ bucketS, slopeFactor }, arrivalsUs) => {
    // Twenty points make a line, and the start of a run a small part of it.
    const widthUs = bucketS === null ? Math.min(60e6, arrivalsUs / 20) : bucketS * 1e6;
    return new BacklogDriftDetector(widthUs, slopeFactor);
  },
};

export const DETECTOR_NAMES: readonly string[] = Object.keys(DETECTORS);

export function createDetector(name: string, settings: DetectorSettings, arrivalsUs: number): LoadDetector {
  return DETECTORS[name]!(settings, arrivalsUs);
}
