import { readMeasured } from '../../observe/calibrate/read-measured.js';
import type { StepRun } from '../../observe/fit/steps/fit-step-runs.js';
import type { ObservedTrace } from '../../observe/fit/traces/observed-trace.js';
import { LONGEST_CONTEXT, readH200Steps, readH200StepTable } from '../../observe/truth/h200-steps.js';
import type { LatencyModel } from '../../replica/latency/contract.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import { readInputFile } from '../../workload/input-file.js';
import { hasPlannedTimes, unknownCapNote } from '../../workload/tools/planned-times.js';
import type { ClientOptions } from '../../workload/tools/replayed-trace.js';
import type { TracePart } from '../../workload/trace.js';
import { givenProfile } from '../config/profile-settings.js';
import { resolveReplica } from '../config/resolve-replica.js';
import { withServerSettings } from '../config/server-settings.js';
import type { Diagnostics } from '../diagnostics.js';
import { conflictingFlags } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { InstanceFlags } from '../flags/instance-flags.js';
import { engineTraces, trafficReplicas } from './engine-traces.js';
import { type MeasuredTrace, readMeasuredTrace } from './measured-trace.js';

/** An engine of several with fewer responses is not fitted. */
const LEAST_RESPONSES = 60;

/** Traces of one kind of engine, and its assumed settings before the fit. */
export interface EngineInputs {
  traces: ObservedTrace[];
  config: ReplicaModelConfig;
  latency: LatencyModel;
}

/** Reads traces with the settings of the engines that they come from; null when there are none. */
export async function readEngineInputs(
  measured: readonly MeasuredTrace[],
  part: TracePart | undefined,
  warmUp: number,
  client: ClientOptions,
  flags: FlagValues<InstanceFlags>,
  diagnostics: Diagnostics,
): Promise<EngineInputs | null> {
  let inputs: EngineInputs | null = null;
  const profile = await givenProfile(flags);
  for (const source of measured) {
    const { path } = source.data;
    const trace = await readMeasuredTrace(source, part);
    const isPlanned = hasPlannedTimes(trace) && client.arrivalTimes !== 'sent';
    const capNote = isPlanned && client.maxInFlight === undefined ? unknownCapNote(trace) : null;
    const notes = [...(trace.notes ?? []), ...(capNote === null ? [] : [capNote])];
    for (const note of notes) diagnostics.warn(`${path}: ${note}`);
    if (hasPlannedTimes(trace))
      diagnostics.info(`${path}: requests due at their ${isPlanned ? 'planned' : 'sent'} times`);
    const cap = client.maxInFlight ?? trace.header.maxInFlight ?? 0;
    const { config, latency } = resolveReplica(
      withServerSettings(flags, trace.header, diagnostics),
      null,
      diagnostics,
      profile,
    );
    inputs ??= { traces: [], config, latency };
    checkSameEngine(inputs.config, config, path);
    const facts = {
      name: path,
      engine: config,
      rttUs: (trace.header.rttMs ?? 0) * 1000,
      warmUp: warmUp < 0 ? (trace.header.warmUpRequests ?? 0) : warmUp,
      isPlanned,
      maxInFlight: cap > 0 ? cap : undefined,
      engineOf: trace.format === 'traffic' ? await trafficReplicas(path) : null,
    };
    const own = engineTraces(trace, await readMeasured(trace, path), facts);
    inputs.traces.push(...withEnough(own, diagnostics));
  }
  return inputs;
}

/** Of several engines, those with enough responses; all of them if none has. */
function withEnough(traces: readonly ObservedTrace[], diagnostics: Diagnostics): readonly ObservedTrace[] {
  const responses = ({ ttftUs }: ObservedTrace) => ttftUs.filter((us) => us > 0).length;
  const enough = traces.filter((trace) => responses(trace) >= LEAST_RESPONSES);
  if (enough.length === 0) return traces;
  for (const trace of traces) {
    if (enough.includes(trace)) continue;
    diagnostics.warn(`${trace.name}: left out: it has ${responses(trace)} responses, ${LEAST_RESPONSES} are needed`);
  }
  return enough;
}

/** A profile is of one model on one kind of GPU. */
function checkSameEngine(first: ReplicaModelConfig, other: ReplicaModelConfig, path: string): void {
  for (const key of ['model', 'hardware', 'tp'] as const) {
    if (first[key] === other[key]) continue;
    const problem = `${path} comes from ${key} ${other[key]}, an earlier trace from ${first[key]}`;
    throw conflictingFlags('--trace', problem, 'fit each of them by itself');
  }
}

/** Reads measured steps: those of a run, or a table of single ones, recognised by their columns. */
export async function readStepRuns(paths: readonly string[]): Promise<StepRun[]> {
  const runs: StepRun[] = [];
  for (const path of paths) {
    const [titles = ''] = (await readInputFile(path)).subarray(0, 4096).toString('utf8').split('\n', 1);
    const isRun = /\bstart_us\b/.test(titles);
    const note = `${path} has no column ${LONGEST_CONTEXT}: the cost of contexts that differ in length is not known from it.`;
    runs.push({
      name: path,
      samples: isRun ? readH200Steps(path) : readH200StepTable(path),
      ...(isRun && !titles.includes(LONGEST_CONTEXT) ? { notes: [note] } : {}),
    });
  }
  return runs;
}
