import { basename } from 'node:path';
import { type FitProgress, type FitStart, fitProfile } from '../../observe/fit/fit-profile.js';
import { replayErrors } from '../../observe/fit/traces/request-errors.js';
import { loadGpu } from '../../replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../replica/catalogue/model-catalogue.js';
import { ENGINE_RULES } from '../../replica/engine-rules.js';
import type { ProfileDimensions, ProfileScheduler } from '../../replica/latency/profile.js';
import { profileText } from '../../replica/latency/profile-file.js';
import type { FitDocument } from '../../report/calibrate/fit-table.js';
import { clientOptions } from '../config/replay-workload.js';
import type { Diagnostics } from '../diagnostics.js';
import { badChoice, missingFlag } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { InstanceFlags } from '../flags/instance-flags.js';
import { tracePartOf } from '../flags/trace-part-flags.js';
import { type CliIo, presentation } from '../io.js';
import { writeOutputs } from '../output/output-files.js';
import { limitCompiler } from '../tune-v8.js';
import type { CalibrationOutputFlags, MeasuredFlags, WarmUpFlags } from './calibrate-flags.js';
import { dimensionsOf, knownDimensions } from './fit-dimensions.js';
import type { FitFlags } from './fit-flags.js';
import { type EngineInputs, readEngineInputs, readStepRuns } from './fit-inputs.js';
import type { MeasuredTrace } from './measured-trace.js';

export type GivenFitFlags = FlagValues<MeasuredFlags & WarmUpFlags & FitFlags & InstanceFlags & CalibrationOutputFlags>;

/** Fits a profile to measurements, writes it, and prints how accurate it is. */
export async function fit(
  traces: readonly MeasuredTrace[],
  flags: GivenFitFlags,
  diagnostics: Diagnostics,
  io: CliIo,
): Promise<number> {
  const { values } = flags;
  const output = values.output!;
  const rules = engineRules(values['try-engine-rules']);
  const steps = await readStepRuns(values['step-table']);
  const client = clientOptions(flags);
  const engine = await readEngineInputs(
    traces,
    tracePartOf(flags),
    values['warmup-requests'],
    client,
    flags,
    diagnostics,
  );
  const { dimensions, hardware, model, scheduler, start, tp } =
    engine === null ? labels(flags) : startOf(engine, flags);
  limitCompiler(Number.POSITIVE_INFINITY);
  const progress = createFitProgress(io);
  const { profile, report } = fitProfile(
    { steps, traces: engine?.traces ?? [] },
    {
      ...{ name: values['profile-name'] ?? basename(output).replace(/\.json$/, ''), model, hardware, tp },
      ...(start === undefined ? {} : { start }),
      ...(scheduler === undefined ? {} : { scheduler }),
      ...(dimensions === undefined ? {} : { dimensions }),
      heldOut: values['held-out'],
      search: {
        maxNumSeqs: values['try-max-num-seqs'],
        maxNumBatchedTokens: values['try-max-num-batched-tokens'],
        engineRules: rules,
        maxInFlight: values['try-max-in-flight'],
      },
    },
    progress.update,
  );
  const before = (engine?.traces ?? []).map((trace, i) => {
    const { heldOut } = report.data[steps.length + i]!;
    return heldOut === 0 ? null : replayErrors(engine!.latency, trace, trace.table.count - heldOut);
  });
  progress.end();
  const text = profileText(profile, report);
  await writeOutputs([{ flag: '--output', path: output, pieces: () => [text] }], io);
  const document: FitDocument = { profile: profile.name, model, hardware, tp, before, report };
  if (values.format === 'json') {
    // As it stands in the file.
    const { fit: fitted } = JSON.parse(text) as { fit: unknown };
    io.stdout.write(`${JSON.stringify({ ...document, report: fitted }, null, 2)}\n`);
    return 0;
  }
  const { fitTable } = await import('../../report/calibrate/fit-table.js');
  io.stdout.write(fitTable(document, presentation(io)));
  return 0;
}

interface FitLabels {
  model: string;
  hardware: string;
  tp: number;
  start?: FitStart;
  dimensions?: ProfileDimensions;
  /** Settings of the engine that flags give. */
  scheduler?: ProfileScheduler;
}

/** Steps alone need no catalogue: model and GPU are labels, with dimensions where they are known. */
function labels(flags: GivenFitFlags): FitLabels {
  const { hardware, model, tp } = flags.values;
  if (model === null) throw missingFlag('--model', 'is required', 'name the model whose steps were measured');
  if (hardware === null) throw missingFlag('--hardware', 'is required', 'name the GPU on which steps were measured');
  return { model: model.toLowerCase(), hardware, tp: tp ?? 1, ...knownDimensions(flags, model, hardware) };
}

function startOf({ config }: EngineInputs, { values }: GivenFitFlags): FitLabels {
  const { hardware, latencyProfile, model, tp } = config;
  if (latencyProfile !== undefined) {
    const { dimensions } = latencyProfile;
    return {
      model,
      hardware,
      tp,
      start: { profile: latencyProfile },
      ...(dimensions === undefined ? {} : { dimensions }),
    };
  }
  const modelConfigFolder = values['model-config-folder'] ?? undefined;
  const hardwareConfig = values['hardware-config'] ?? undefined;
  const start = { model: loadModel(model, { modelConfigFolder }), gpu: loadGpu(hardware, { hardwareConfig }) };
  return { model, hardware, tp, start, dimensions: dimensionsOf(start) };
}

function engineRules(names: readonly string[]): readonly string[] {
  const known = ENGINE_RULES.map(({ name }) => name);
  for (const name of names) if (!known.includes(name)) throw badChoice('--try-engine-rules', name, known);
  return names;
}

const REDRAW_MS = 100;
const CLEAR = '\r\x1b[K';

/** A line on a terminal's stderr that is redrawn during a fit; nothing where stderr is not a terminal. */
function createFitProgress(io: CliIo): { update: FitProgress; end(): void } {
  if (io.stderr.isTTY !== true) return { update: () => {}, end: () => {} };
  let drawn = Number.NEGATIVE_INFINITY;
  return {
    update(stage, tries, loss) {
      const now = io.now();
      if (now - drawn < REDRAW_MS) return;
      drawn = now;
      const far = stage === 'steps' ? 'steps' : `requests, ${tries} simulations, ${loss.toPrecision(4)} unexplained`;
      io.stderr.write(`${CLEAR}fitting ${far}`);
    },
    end() {
      if (drawn > Number.NEGATIVE_INFINITY) io.stderr.write(CLEAR);
    },
  };
}
