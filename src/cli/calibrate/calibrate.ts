import { summaryOf } from '../commands.js';
import { refuseGiven } from '../config/flag-conflicts.js';
import { traceInputs } from '../config/replay-workload.js';
import { createDiagnostics } from '../diagnostics.js';
import { conflictingFlags, missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { type InstanceFlags, instanceFlags } from '../flags/instance-flags.js';
import { parseFlags } from '../flags/parse-flags.js';
import { tracePartOf } from '../flags/trace-part-flags.js';
import type { CliIo } from '../io.js';
import { checkOutputs, type NamedPath } from '../output/output-files.js';
import {
  type CalibrationOutputFlags,
  type ComparingFlags,
  calibrationOutputFlags,
  type MeasuredFlags,
  measuredFlags,
  networkFlags,
  type PredictionFlags,
  predictionFlags,
  toleranceFlags,
  type WarmUpFlags,
  warmUpFlags,
} from './calibrate-flags.js';
import type { ComparedFiles } from './compare-files.js';
import { type FitFlags, fitFlags } from './fit-flags.js';
import { byPrefix, type MeasuredTrace, measuredTraces } from './measured-trace.js';

export const CALIBRATE: CommandLine = {
  name: 'calibrate',
  summary: summaryOf('calibrate'),
  about:
    'Use it to check how far a prediction is from an observed trace, or with --fit to derive a latency profile from traces or measured step times.',
  groups: [
    { title: 'Measured', flags: { ...measuredFlags, ...warmUpFlags } },
    { title: 'Predicted', flags: predictionFlags },
    { title: 'Network', flags: networkFlags },
    { title: 'Tolerances', flags: toleranceFlags },
    { title: 'Fit', flags: fitFlags },
    { title: 'Engine to fit', flags: instanceFlags },
    { title: 'Output', flags: calibrationOutputFlags },
  ],
  examples: [
    'calibrate --trace observed --sim-results results.json --format table',
    'calibrate --trace-header observed.yaml --trace-data observed.csv --sim-results results.json --report page.html',
    'calibrate --trace observed --sim-results results.json --e2e-mean-threshold 0.03 --ttft-mean-threshold 0.08',
    'calibrate --fit --trace monday --trace tuesday -o profile.json --format table',
  ],
};

type Flags = FlagValues<
  MeasuredFlags & PredictionFlags & WarmUpFlags & ComparingFlags & FitFlags & InstanceFlags & CalibrationOutputFlags
>;

/** Compares a prediction with measurements, or fits step times to them. */
export async function calibrate(argv: readonly string[], io: CliIo): Promise<number> {
  const flags: Flags = await parseFlags(CALIBRATE, argv);
  if (flags.values.fit) return fitFiles(flags, io);
  const files = comparedFiles(flags);
  checkOutputs(outputsOf(flags), inputsOf(files));
  const [{ compareFiles }, { failureNote }, { printCalibration }] = await Promise.all([
    import('./compare-files.js'),
    import('../../observe/calibrate/compare/compare-failures.js'),
    import('./print-calibration.js'),
  ]);
  const calibration = await compareFiles(files, flags);
  if (files.metrics !== null && calibration.document.hit_rate === undefined) {
    const problem = `${files.trace.data.path} does not record cached prompt tokens`;
    createDiagnostics(flags.values.log, io).warn(`--sim-metrics: ${problem}; no hit rates are compared`);
  }
  const failed = failureNote(calibration.document.failures);
  if (failed !== null) createDiagnostics(flags.values.log, io).warn(failed);
  return printCalibration(calibration, `${files.trace.data.path} against ${files.results}`, flags, io);
}

async function fitFiles(flags: Flags, io: CliIo): Promise<number> {
  const { output, 'step-table': tables } = flags.values;
  const others = Object.keys({ ...predictionFlags, ...networkFlags, ...toleranceFlags }) as (keyof ComparingFlags)[];
  refuseGiven(flags, [...others, 'report'], '--fit compares nothing', 'leave it out, or leave out --fit');
  const asksForTraces = (['trace', 'trace-header', 'trace-data'] as const).some((name) => flags.given(name));
  const traces = asksForTraces || tables.length === 0 ? measuredTraces(flags) : [];
  if (output === null) throw missingFlag('--output', 'is required with --fit', 'name the file of the profile');
  const inputs = [...traces.flatMap(traceInputs), ...tables.map((path) => ({ flag: '--step-table', path }))];
  checkOutputs([{ flag: '--output', path: output }], inputs);
  const { fit } = await import('./fit.js');
  return fit(traces, flags, createDiagnostics(flags.values.log, io), io);
}

function comparedFiles(flags: Flags): ComparedFiles {
  const ofFits = [...Object.keys(fitFlags), ...Object.keys(instanceFlags)] as (keyof FitFlags)[];
  refuseGiven(flags, ofFits, 'nothing is fitted', 'add --fit, or leave it out');
  const {
    'itl-data': chunkTimes,
    'repeat-trace': repeat,
    'sim-metrics': metrics,
    'sim-results': results,
  } = flags.values;
  const [trace, second] = measuredTraces(flags);
  if (second !== undefined) {
    throw conflictingFlags('--trace', 'names two traces', 'results are those of one; compare one after the other');
  }
  if (results === null) {
    throw missingFlag('--sim-results', 'is required', "give the file of 'replay --results-path'");
  }
  if (metrics === null) {
    refuseGiven(flags, ['hit-rate-tolerance-pp'], 'no cache hit rate is predicted', 'add --sim-metrics');
  }
  return {
    trace: trace!,
    part: tracePartOf(flags),
    results,
    metrics,
    chunkTimes,
    repeat: repeat === null ? null : byPrefix(repeat, '--repeat-trace'),
    warmUp: flags.values['warmup-requests'],
  };
}

function outputsOf({ values: { report } }: Flags): NamedPath[] {
  return report === null ? [] : [{ flag: '--report', path: report }];
}

function inputsOf({ chunkTimes, metrics, repeat, results, trace }: ComparedFiles): NamedPath[] {
  const others = { '--sim-results': results, '--sim-metrics': metrics, '--itl-data': chunkTimes };
  const named = Object.entries(others).flatMap(([flag, path]) => (path === null ? [] : [{ flag, path }]));
  const again = repeat === null ? [] : traceInputs(repeat);
  return [...traceInputs(trace satisfies MeasuredTrace), ...again, ...named];
}
