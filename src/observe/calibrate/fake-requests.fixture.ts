import type { CalibrationInputs, CalibrationOptions } from './calibrate.js';
import type { MeasuredRequest, PredictedRequest } from './measured-request.js';

/** A request that was sent at 1000 times its id and took 100 us to its first token and 500 in all. */
export function measured(id: number, changes: Partial<MeasuredRequest> = {}): MeasuredRequest {
  return {
    ...{ id, sentUs: 1000 * id, ttftUs: 100, e2eUs: 500, countedInputTokens: 10, inputTokens: 10, outputTokens: 5 },
    ...{ cachedTokens: -1, sloClass: '', streamed: true, completed: true, timedOut: false },
    ...changes,
  };
}

/** The same, predicted to the microsecond. */
export function predicted(id: number, changes: Partial<PredictedRequest> = {}): PredictedRequest {
  return { id, ttftUs: 100, e2eUs: 500, inputTokens: 10, outputTokens: 5, status: null, isCapped: false, ...changes };
}

export const NO_NETWORK = { rttUs: 0, bandwidthMbps: 0 };

export function fakeInputs(
  changes: Partial<CalibrationInputs> & Pick<CalibrationInputs, 'measured' | 'predicted'>,
): CalibrationInputs {
  return { chunkTimes: null, hitRates: null, place: 'results.json', notes: [], ...changes };
}

export function fakeOptions(changes: Partial<CalibrationOptions> = {}): CalibrationOptions {
  return {
    ...{ network: NO_NETWORK, warmUp: 0, ttftMapeThreshold: 0.15, hitRateTolerancePp: 5 },
    ...{ tolerances: {}, goodputTargets: {} },
    ...changes,
  };
}
