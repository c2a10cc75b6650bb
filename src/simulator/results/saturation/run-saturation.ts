import { type RequestOutcomes, STATUS } from '../../../replica/request-outcomes.js';
import type { RequestTable } from '../../../workload/request-table.js';
import type { DetectorSettings } from '../../cluster-config.js';
import type { Saturation } from '../../result-document.js';
import { type DetectorChange, detectorsText, runDetectors } from './detectors/run-detectors.js';
import { detectSaturation, type ObservedLoad } from './saturation.js';
import { saturationVerdict } from './saturation-verdict.js';

/** A completed run, as far as saturation depends on it. */
export interface JudgedRun {
  table: RequestTable;
  outcomes: RequestOutcomes;
  /** Rows from here on were added during the run: each is the response to the end of another. */
  knownRows: number;
  /** When the run ended. */
  endUs: number;
  /** Requests that the fleet generates tokens for at a time, at most. */
  places: number;
  detectors: DetectorSettings | undefined;
}

/** Never with a replica, or refused before it waited for one. */
const AWAY: ReadonlySet<number> = new Set([
  STATUS.not_arrived,
  STATUS.dropped,
  STATUS.rejected,
  STATUS.routing_rejected,
  STATUS.gateway_rejected,
  STATUS.gateway_shed,
]);
/** Where later turns follow earlier ones: the least part of the run in which new sessions arrive. */
const LEAST_ARRIVALS = 0.5;

export function saturationOf(run: JudgedRun): Saturation {
  const { load, timedOut } = observedLoad(run);
  const found = detectSaturation(load);
  const verdict = saturationVerdict(found, { places: run.places, timedOut });
  if (run.detectors === undefined) return { ...found, verdict };
  const detectors = runDetectors(load, run.detectors);
  return { ...found, verdict: `${verdict}; detectors: ${detectorsText(detectors)}`, detectors };
}

/** Every change of what the detectors of a run said. */
export function detectorChanges(run: JudgedRun): DetectorChange[] {
  const changes: DetectorChange[] = [];
  if (run.detectors === undefined) return changes;
  runDetectors(observedLoad(run).load, run.detectors, (change) => changes.push(change));
  return changes;
}

function observedLoad({ table, outcomes, knownRows, endUs, places }: Omit<JudgedRun, 'detectors'>): {
  load: ObservedLoad;
  timedOut: number;
} {
  const arrivalUs = new Float64Array(table.count);
  const ttftUs = new Float64Array(table.count);
  const e2eUs = new Float64Array(table.count);
  let fromUs = Number.POSITIVE_INFINITY;
  let lastUs = Number.NEGATIVE_INFINITY;
  let n = 0;
  let timedOut = 0;
  for (let row = 0; row < table.count; row++) {
    if (AWAY.has(outcomes.status[row]!)) continue;
    const arrival = table.arrivalUs[row]!;
    arrivalUs[n] = arrival;
    ttftUs[n] = outcomes.ttftUs[row]!;
    // A response that timed out midway was served until then; a request that timed out in a queue was not, and stays.
    const isLate = outcomes.status[row] === STATUS.timed_out;
    const isCut = isLate && !Number.isNaN(ttftUs[n]!);
    if (isLate) timedOut++;
    e2eUs[n] = isCut ? table.deadlineUs[row]! - arrival : outcomes.e2eUs[row]!;
    fromUs = Math.min(fromUs, arrival);
    if (row < knownRows) lastUs = Math.max(lastUs, arrival);
    n++;
  }
  const follows = table.count > knownRows && lastUs - fromUs < LEAST_ARRIVALS * (endUs - fromUs);
  // A client with a cap on requests in flight sends at the fleet's pace, as closed loops do.
  const waits = outcomes.clientWaitUs?.some((us) => us > 0) === true;
  const load = {
    arrivalUs: arrivalUs.subarray(0, n),
    ttftUs: ttftUs.subarray(0, n),
    e2eUs: e2eUs.subarray(0, n),
    arrivalsEndUs: follows || waits ? fromUs : Math.min(lastUs, endUs),
    endUs,
    places,
  };
  return { load, timedOut };
}
