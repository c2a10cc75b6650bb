import { modelErrorOf, withModelError } from '../../experiment/plan/model-error.js';
import type { LatencyModel } from '../../replica/latency/contract.js';
import { replicaLatency } from '../../replica/replica-latency.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { askedConfig, readsText } from './asked-config.js';
import { type AskedRun, askedRun } from './asked-runs.js';
import { type Baseline, checkBaseline } from './baseline.js';
import { fitRecorded } from './engines/fit-recorded.js';
import { onOtherGpu, otherGpuLatency, sheetError } from './engines/other-gpu.js';
import { replicaSpeeds } from './engines/replica-speeds.js';
import { predictMetric } from './predicted-metric.js';
import { type RecordedFleet, readRecordedFleet } from './recorded-fleet.js';
import type { BaselineCheck, RecordingFacts, WhatIfAlternative, WhatIfDocument } from './whatif-document.js';
import type { AskedFleet, WhatIfProgress, WhatIfQuestion } from './whatif-question.js';
import { alternativeName, alternativeVerdict } from './whatif-verdict.js';

const RUNS = 11;
/** Of them with step times as short, and as long, as they may be. */
const EXTREME_RUNS = 3;
/** Step times are never known better: the same steps take this much more or less from one run to the next. */
const LEAST_STEP_ERROR = 0.02;
/** Of step times that were fitted to few responses: this over the root of their number. */
const FIT_ERROR = 0.6;
const MOST_STEP_ERROR = 0.3;

/** Called with the progress; may return a promise that is waited for. */
export type WhatIfWatch = (progress: WhatIfProgress) => void | Promise<void>;

/**
 * Answers a question in this thread: it computes for seconds, and waits for `watch` in between.
 * @param known the engines, where they have been found already
 */
export async function answerWhatIf(
  question: WhatIfQuestion,
  watch: WhatIfWatch,
  known?: RecordedModel,
): Promise<WhatIfDocument> {
  await watch({ stage: 'reading', done: 0, total: 0 });
  const fleet = await readRecordedFleet(question, true);
  const model = known ?? (await recordedModel(question, fleet, watch));
  await watch({ stage: 'checking', done: 0, total: 0 });
  const latency = replicaLatency(model.replica);
  const baseline = checkBaseline(fleet, model.replica, latency, model.speeds);
  const { runs = RUNS } = question;
  const perAlternative = runs + 2 * Math.min(runs, EXTREME_RUNS);
  const total = question.alternatives.length * perAlternative;
  const fitted = model.source === 'fitted' ? fleet.answered.length : Number.POSITIVE_INFINITY;
  const stepError = stepErrorOf(model.replica, baseline, fitted);
  const alternatives: WhatIfAlternative[] = [];
  for (const [i, asked] of question.alternatives.entries()) {
    let done = i * perAlternative;
    const engine = engineOf(asked, { replica: model.replica, latency, stepError });
    const config = withSpeeds(askedConfig(question, fleet, engine.replica, asked), model.speeds);
    const simulated = async (cluster: ClusterConfig, run: number): Promise<AskedRun> => {
      await watch({ stage: 'simulating', done: done++, total });
      return askedRun(fleet, baseline, cluster, engine.latency, run, runs);
    };
    alternatives.push(await answer(asked, config, baseline, engine.stepError, runs, simulated));
  }
  await watch({ stage: 'simulating', done: total, total });
  return documentOf(fleet, model, baseline, stepError, alternatives);
}

export interface RecordedModel {
  replica: ReplicaModelConfig;
  /** By replica of the recording: how many times as long its steps take; null where all are alike. */
  speeds: number[] | null;
  source: 'given' | 'fitted';
  notes: string[];
}

/** The engines with a profile: the given one, or one that is fitted to the recording. */
export async function recordedModel(
  { replica }: WhatIfQuestion,
  fleet: RecordedFleet,
  watch: WhatIfWatch,
): Promise<RecordedModel> {
  if (replica.latencyProfile !== undefined) {
    const speeds = replicaSpeeds(fleet, replica, replicaLatency(replica));
    return { replica, speeds, source: 'given', notes: speedNotes(fleet, speeds) };
  }
  await watch({ stage: 'fitting', done: 0, total: 0 });
  const tried = (tries: number) => void watch({ stage: 'fitting', done: tries, total: 0 });
  const { latencyFamily: _, queueingUs: __, ...engine } = replica;
  const fit = (speeds: readonly number[] | null) => {
    const { notes, profile } = fitRecorded(fleet, replica, tried, speeds);
    const fitted: ReplicaModelConfig = { ...engine, latencyModel: 'profile', latencyProfile: profile };
    return { notes, replica: fitted, speeds: replicaSpeeds(fleet, fitted, replicaLatency(fitted)) };
  };
  let fitted = fit(null);
  // The profile of unlike replicas describes none of them: one kind is fitted, and the others are so many times as slow.
  if (fitted.speeds !== null) fitted = fit(fitted.speeds);
  const { notes, replica: model, speeds } = fitted;
  return { replica: model, speeds, source: 'fitted', notes: [...notes, ...speedNotes(fleet, speeds)] };
}

function speedNotes({ trace }: RecordedFleet, speeds: readonly number[] | null): string[] {
  if (speeds === null) return [];
  const each = trace.observed.served.replicas.map((name, i) => `${name} ${speeds[i]!.toFixed(2)}`);
  return [`Replicas differ in speed: times the step times of the profile, ${each.join(', ')}.`];
}

/** Each replica with its speed. Of replicas that the recording does not have, that of the recorded ones in turn. */
export function withSpeeds(config: ClusterConfig, speeds: readonly number[] | null): ClusterConfig {
  if (speeds === null) return config;
  const slowFactors = Array.from({ length: config.instances }, (_, i) => speeds[i % speeds.length]!);
  return { ...config, slowFactors };
}

/** @param fitted how many responses the profile was fitted to; Infinity for a given one */
export function stepErrorOf(replica: ReplicaModelConfig, { metrics }: Baseline, fitted: number): number {
  const stated = modelErrorOf(replica)?.step ?? 0;
  const shown = Math.abs(metrics.find(({ metric }) => metric === 'itl_mean_ms')?.error ?? 0);
  const least = Math.hypot(LEAST_STEP_ERROR, FIT_ERROR / Math.sqrt(fitted));
  return Math.min(MOST_STEP_ERROR, Math.max(least, stated, shown));
}

/** The engines of an alternative, and how far their step times may be off. */
interface AskedEngine {
  replica: ReplicaModelConfig;
  latency: LatencyModel;
  stepError: number;
}

/** Those of the recording, or the same on another GPU: data sheets say less of it than the recording of its own. */
function engineOf({ gpu }: AskedFleet, recorded: AskedEngine): AskedEngine {
  if (gpu === undefined) return recorded;
  const replica = onOtherGpu(recorded.replica, gpu, 'gpu');
  if (replica.hardware === recorded.replica.hardware) return recorded;
  return {
    replica,
    latency: otherGpuLatency(recorded.replica, recorded.latency, replica),
    stepError: Math.min(MOST_STEP_ERROR, Math.hypot(recorded.stepError, sheetError(replica))),
  };
}

async function answer(
  asked: AskedFleet,
  config: ClusterConfig,
  baseline: Baseline,
  stepError: number,
  runs: number,
  simulated: (config: ClusterConfig, run: number) => Promise<AskedRun>,
): Promise<WhatIfAlternative> {
  const each = async (cluster: ClusterConfig, wanted: readonly number[]) => {
    const made: AskedRun[] = [];
    for (const run of wanted) made.push(await simulated(cluster, run));
    return made;
  };
  const error = { step: stepError, host: 0, why: '' };
  // First to last: reads of metrics shift against arrivals from one to the next.
  const some = Array.from({ length: Math.min(runs, EXTREME_RUNS) }, (_, i) =>
    Math.round((i * (runs - 1)) / Math.max(1, Math.min(runs, EXTREME_RUNS) - 1)),
  );
  const usual = await each(
    config,
    Array.from({ length: runs }, (_, run) => run),
  );
  const fast = await each(withModelError(config, error, -1), some);
  const slow = await each(withModelError(config, error, 1), some);
  const rows = (made: readonly AskedRun[]) => made.map(({ metrics }) => metrics);
  const of = {
    runs: rows(usual),
    usual: rows(some.map((run) => usual[run]!)),
    plain: usual.map(({ plain }) => plain),
    least: usual.map(({ least }) => least),
    most: usual.map(({ most }) => most),
    fast: rows(fast),
    slow: rows(slow),
  };
  const metrics = baseline.metrics.map((metric) => predictMetric(metric, baseline.calibrated[metric.metric], of));
  // One run of several may pile up until its end: where most do, latencies say nothing.
  const behind = usual.flatMap((run) => run.saturated ?? []);
  const saturated = 2 * behind.length > usual.length ? behind[0]! : null;
  const unknown = readsText(config.routing)
    ? 'it decides by the text of prompts, which is never recorded; options that read blocks instead can be predicted (chwbl with key=prefix-blocks)'
    : null;
  const refused =
    baseline.refused ??
    unknown ??
    (saturated === null ? null : `this fleet would not keep up with the traffic: ${saturated}`);
  const name = alternativeName(asked, config);
  const rejected = usual.reduce((sum, run) => sum + run.rejected, 0) / usual.length;
  return {
    name,
    routing: config.routing,
    replicas: config.instances,
    hardware: config.replica.hardware,
    refused,
    verdict: alternativeVerdict(name, metrics, refused, rejected),
    metrics,
    rejected,
    perReplica: usual[0]!.perReplica,
    runs,
  };
}

function documentOf(
  fleet: RecordedFleet,
  model: RecordedModel,
  baseline: Baseline,
  stepError: number,
  alternatives: WhatIfAlternative[],
): WhatIfDocument {
  return {
    verdict: alternatives.map(({ verdict }) => verdict).join(' '),
    recording: recordingFacts(fleet),
    baseline: baselineCheck(model, baseline, stepError),
    alternatives,
    notes: [...(fleet.trace.notes ?? []), ...policyNotes(alternatives)],
  };
}

/** What policies know in a simulation that they do not know live. */
function policyNotes(alternatives: readonly WhatIfAlternative[]): string[] {
  return alternatives.some(({ routing }) => routing.policy === 'predicted-latency')
    ? [
        'predicted-latency decides by the same step times that are simulated, so it is taken to be as good as its profile can be; SLO targets of requests are not recorded.',
      ]
    : [];
}

export function recordingFacts({ answered, file, trace, turns, warmUp }: RecordedFleet): RecordingFacts {
  const { arrivalUs, blocks, count } = trace.table;
  return {
    file,
    requests: count - warmUp,
    warmUp,
    responses: answered.length,
    durationS: (arrivalUs[count - 1]! - arrivalUs[warmUp]!) / 1e6,
    replicas: [...trace.observed.served.replicas].sort(),
    blockTokens: blocks?.blockTokens ?? null,
    sessions: turns === null ? 'fixed' : turns.isScheduled ? 'scheduled' : 'closed-loop',
  };
}

export function baselineCheck(
  { notes, replica, source }: RecordedModel,
  { metrics, refused }: Baseline,
  stepError: number,
): BaselineCheck {
  return { profile: { name: replica.latencyProfile!.name, source, notes }, stepError, metrics, refused };
}
