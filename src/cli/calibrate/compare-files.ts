import { calibrate } from '../../observe/calibrate/calibrate.js';
import type { Calibration } from '../../observe/calibrate/calibration.js';
import { hitRateOfHeader, hitRateOfRequests } from '../../observe/calibrate/measured-hit-rate.js';
import type { MeasuredRequest } from '../../observe/calibrate/measured-request.js';
import { readChunkTimes } from '../../observe/calibrate/read-chunk-times.js';
import { readMeasured } from '../../observe/calibrate/read-measured.js';
import { readPredicted, readPredictedHitRate } from '../../observe/calibrate/read-predicted.js';
import { readRepeat } from '../../observe/calibrate/read-repeat.js';
import type { TraceGoodputTarget, TraceHeader, TracePart } from '../../workload/trace.js';
import type { FlagValues } from '../flags/flag.js';
import { type ComparingFlags, givenTolerances } from './calibrate-flags.js';
import { headerOf, type MeasuredTrace, readMeasuredTrace } from './measured-trace.js';

/** The files that are compared. */
export interface ComparedFiles {
  trace: MeasuredTrace;
  part: TracePart | undefined;
  results: string;
  metrics: string | null;
  chunkTimes: string | null;
  /** Another measurement of the same requests; null: what a repeat usually differs. */
  repeat: MeasuredTrace | null;
  /** Requests with lower numbers are left out; -1: as in the header. */
  warmUp: number;
}

/** Reads both sides and compares them. */
export async function compareFiles(files: ComparedFiles, flags: FlagValues<ComparingFlags>): Promise<Calibration> {
  const { values } = flags;
  const trace = await readMeasuredTrace(files.trace, files.part);
  const path = files.trace.data.path;
  const measured = await readMeasured(trace, path);
  const predicted = await readPredicted(files.results);
  const sim = files.metrics === null ? null : await readPredictedHitRate(files.metrics);
  const header = headerOf(files.trace);
  const real = (header === null ? null : await hitRateOfHeader(header)) ?? hitRateOfRequests(measured);
  return calibrate(
    {
      measured,
      predicted,
      chunkTimes: files.chunkTimes === null ? null : await readChunkTimes(files.chunkTimes),
      hitRates: real === null || sim === null ? null : { real, sim },
      place: files.results,
      notes: trace.notes ?? [],
      repeat: files.repeat === null ? null : await repeatOf(files.repeat, measured),
      maxInFlight: trace.header.maxInFlight,
    },
    {
      network: networkOf(trace.header, flags),
      warmUp: files.warmUp < 0 ? (trace.header.warmUpRequests ?? 0) : files.warmUp,
      ttftMapeThreshold: values['ttft-mape-threshold']!,
      hitRateTolerancePp: values['hit-rate-tolerance-pp'],
      tolerances: givenTolerances(flags),
      goodputTargets: goodputTargets(flags, trace.header),
    },
  );
}

async function repeatOf(repeat: MeasuredTrace, measured: readonly MeasuredRequest[]) {
  const { path } = repeat.data;
  const again = await readMeasured(await readMeasuredTrace(repeat, undefined), path);
  return { source: path, shares: readRepeat(measured, again, path) };
}

function networkOf({ rttMs }: TraceHeader, { values }: FlagValues<ComparingFlags>) {
  const given = values['network-rtt-us'];
  return { rttUs: given < 0 ? (rttMs ?? 0) * 1000 : given, bandwidthMbps: values['network-bandwidth-mbps'] };
}

const DIMENSIONS = [
  ['ttftUs', 'slo-ttft'],
  ['itlUs', 'slo-itl'],
  ['e2eUs', 'slo-e2e'],
] as const;

/** Goodput targets by class: flags win over the header of the trace. */
function goodputTargets(
  { values }: FlagValues<ComparingFlags>,
  header: TraceHeader,
): Record<string, TraceGoodputTarget> {
  const targets: Record<string, TraceGoodputTarget> = { ...header.goodputTargets };
  for (const [dimension, flag] of DIMENSIONS) {
    for (const [sloClass, us] of Object.entries(values[flag])) {
      targets[sloClass] = { ...targets[sloClass], [dimension]: us };
    }
  }
  return targets;
}
