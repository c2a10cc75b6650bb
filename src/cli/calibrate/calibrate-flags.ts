import type { MetricName, ToleranceName } from '../../observe/calibrate/calibration.js';
import type { Flag, FlagValues } from '../flags/flag.js';
import { count, file, MAX_SPAN_US, microseconds, numberFlag } from '../flags/kinds.js';
import { outputFlags } from '../flags/output-flags.js';
import { tracePartFlags } from '../flags/trace-part-flags.js';

/** A path that may be given several times. */
export function files(spec: { help: string; placeholder?: string }): Flag<string[]> {
  const one = file(spec);
  return {
    ...one,
    default: [],
    repeats: true,
    read: (text, place) => text.split('\n').map((path) => one.read(path, place)!),
  };
}

/** Where the measured requests are. */
export const measuredFlags = {
  trace: files({
    placeholder: 'prefix',
    help: 'measured trace: prefix.yaml and prefix.csv, or a file as --trace-data; with --fit give several',
  }),
  'trace-header': file({ help: "a TraceV2's YAML header" }),
  'trace-data': file({ help: 'measured trace: a TraceV2, or recorded traffic of a gateway' }),
  ...tracePartFlags,
};

/** What is compared with it, and how the two are brought together. */
export const predictionFlags = {
  'sim-results': file({ help: "predicted results: the file of 'replay --results-path' or of '--metrics-path'" }),
  'sim-metrics': file({ help: "the file of 'replay --metrics-path': its cache hit rate is compared, too" }),
  'repeat-trace': file({
    placeholder: 'prefix',
    defaultText: 'two runs on one H200',
    help: 'the same requests measured once more, as --trace: the prediction is graded by what the two differ',
  }),
  'itl-data': file({ help: 'times of single chunks: CSV with request_id, chunk_index, timestamp_us' }),
};

/** What is left out. */
export const warmUpFlags = {
  'warmup-requests': count({
    default: -1,
    min: -1,
    defaultText: 'as in the header',
    help: 'requests with lower numbers are left out',
  }),
};

/** The network between the client that measured and the server that is predicted. */
export const networkFlags = {
  'network-rtt-us': microseconds({
    default: -1,
    min: -1,
    defaultText: 'as in the header',
    help: 'round trip to the server, added to predictions',
  }),
  'network-bandwidth-mbps': numberFlag({
    default: 0,
    min: 0,
    max: MAX_SPAN_US,
    placeholder: 'mbps',
    help: 'add the transfer time of prompts and responses; 0: none',
  }),
};

function share(spec: { default: number | null; help: string }): Flag<number | null> {
  return numberFlag({ ...spec, min: 0, max: 1000 });
}

/** Errors that are accepted. One that is given and missed makes the command fail. */
export const toleranceFlags = {
  'ttft-mape-threshold': share({ default: 0.15, help: 'largest mean error of single first tokens, as a share' }),
  'e2e-mape-threshold': share({ default: null, help: 'the same of whole requests' }),
  'itl-mape-threshold': share({ default: null, help: 'the same of gaps between tokens' }),
  'ttft-mean-threshold': share({ default: null, help: 'largest error of the mean time to first token, as a share' }),
  'e2e-mean-threshold': share({ default: null, help: 'the same of whole requests' }),
  'itl-mean-threshold': share({ default: null, help: 'the same of gaps between tokens' }),
  'hit-rate-tolerance-pp': numberFlag({
    default: 5,
    min: 0,
    max: 100,
    placeholder: 'points',
    help: 'largest error of the cache hit rate, in percentage points',
  }),
  'slo-ttft': outputFlags['slo-ttft'],
  'slo-itl': outputFlags['slo-itl'],
  'slo-e2e': outputFlags['slo-e2e'],
};

export const calibrationOutputFlags = {
  report: file({
    help: 'write it to a file, too: p.html is a self-contained page with plots, all others JSON',
  }),
  format: outputFlags.format,
  log: outputFlags.log,
};

export type MeasuredFlags = typeof measuredFlags;
export type WarmUpFlags = typeof warmUpFlags;
export type PredictionFlags = typeof predictionFlags;
export type ComparingFlags = typeof networkFlags & typeof toleranceFlags;
export type CalibrationOutputFlags = typeof calibrationOutputFlags;

const METRICS: readonly MetricName[] = ['ttft', 'e2e', 'itl'];

/** The given tolerances. */
export function givenTolerances(flags: FlagValues<ComparingFlags>): Partial<Record<ToleranceName, number>> {
  const entries = METRICS.flatMap((metric) =>
    (['mape', 'mean'] as const).flatMap((kind): [ToleranceName, number][] => {
      const flag = `${metric}-${kind}-threshold` as const;
      const limit = flags.values[flag];
      return flags.given(flag) && limit !== null ? [[`${metric}_${kind}`, limit]] : [];
    }),
  );
  return Object.fromEntries(entries);
}
