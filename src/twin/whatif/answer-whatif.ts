import { modelErrorOf, withModelError } from '../../experiment/plan/model-error.js';
import { withQueueing } from '../../replica/latency/contract.js';
import { profileLatency } from '../../replica/latency/profile-latency.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { askedConfig } from './asked-config.js';
import { type AskedRun, askedRun } from './asked-runs.js';
import { type Baseline, checkBaseline } from './baseline.js';
import { fitRecorded } from './fit-recorded.js';
import { predictMetric } from './predicted-metric.js';
import { type RecordedFleet, readRecordedFleet } from './recorded-fleet.js';
import type { WhatIfAlternative, WhatIfDocument } from './whatif-document.js';
import type { AskedFleet, WhatIfProgress, WhatIfQuestion } from './whatif-question.js';
import { alternativeName, alternativeVerdict } from './whatif-verdict.js';

const RUNS = 11;
/** With step times as short, and as long, as they may be. */
const EXTREME_RUNS = 3;
/** Step times are never known better: the same steps take this much more or less from one run to the next. */
const LEAST_STEP_ERROR = 0.02;
const MOST_STEP_ERROR = 0.3;

/** Called with the progress; may return a promise that is waited for. */
export type WhatIfWatch = (progress: WhatIfProgress) => void | Promise<void>;

/** Answers a question in this thread: it computes for seconds, and waits for `watch` in between. */
export async function answerWhatIf(question: WhatIfQuestion, watch: WhatIfWatch): Promise<WhatIfDocument> {
  await watch({ stage: 'reading', done: 0, total: 0 });
  const fleet = await readRecordedFleet(question);
  const model = await modelOf(question, fleet, watch);
  await watch({ stage: 'checking', done: 0, total: 0 });
  const latency = withQueueing(profileLatency(model.replica.latencyProfile!), model.replica);
  const baseline = checkBaseline(fleet, model.replica, latency);
  const { runs = RUNS } = question;
  const perAlternative = runs + 2 * EXTREME_RUNS;
  const total = question.alternatives.length * perAlternative;
  const stepError = stepErrorOf(model.replica, baseline);
  const alternatives: WhatIfAlternative[] = [];
  for (const [i, asked] of question.alternatives.entries()) {
    let done = i * perAlternative;
    const config = askedConfig(question, fleet, model.replica, asked);
    const simulated = async (cluster: ClusterConfig, run: number): Promise<AskedRun> => {
      await watch({ stage: 'simulating', done: done++, total });
      return askedRun(fleet, cluster, latency, run, runs);
    };
    alternatives.push(await answer(asked, config, baseline, stepError, runs, simulated));
  }
  await watch({ stage: 'simulating', done: total, total });
  return documentOf(question, fleet, model, baseline, stepError, alternatives);
}

interface EngineModel {
  replica: ReplicaModelConfig;
  source: 'given' | 'fitted';
  notes: string[];
}

/** The engines with a profile: the given one, or one that is fitted to the recording. */
async function modelOf({ replica }: WhatIfQuestion, fleet: RecordedFleet, watch: WhatIfWatch): Promise<EngineModel> {
  if (replica.latencyProfile !== undefined) return { replica, source: 'given', notes: [] };
  await watch({ stage: 'fitting', done: 0, total: 0 });
  const { notes, profile } = fitRecorded(
    fleet,
    replica,
    (tries) => void watch({ stage: 'fitting', done: tries, total: 0 }),
  );
  const { latencyFamily: _, queueingUs: __, ...engine } = replica;
  return { replica: { ...engine, latencyModel: 'profile', latencyProfile: profile }, source: 'fitted', notes };
}

function stepErrorOf(replica: ReplicaModelConfig, { metrics }: Baseline): number {
  const stated = modelErrorOf(replica)?.step ?? 0;
  const shown = Math.abs(metrics.find(({ metric }) => metric === 'itl_mean_ms')?.error ?? 0);
  return Math.min(MOST_STEP_ERROR, Math.max(LEAST_STEP_ERROR, stated, shown));
}

async function answer(
  asked: AskedFleet,
  config: ClusterConfig,
  baseline: Baseline,
  stepError: number,
  runs: number,
  simulated: (config: ClusterConfig, run: number) => Promise<AskedRun>,
): Promise<WhatIfAlternative> {
  const each = async (cluster: ClusterConfig, count: number) => {
    const made: AskedRun[] = [];
    for (let run = 0; run < count; run++) made.push(await simulated(cluster, run));
    return made;
  };
  const error = { step: stepError, host: 0, why: '' };
  const usual = await each(config, runs);
  const fast = await each(withModelError(config, error, -1), EXTREME_RUNS);
  const slow = await each(withModelError(config, error, 1), EXTREME_RUNS);
  const rows = (made: readonly AskedRun[]) => made.map(({ metrics }) => metrics);
  const of = { runs: rows(usual), fast: rows(fast), slow: rows(slow) };
  const metrics = baseline.metrics.map((metric) => predictMetric(metric, of));
  const saturated = usual.find((run) => run.saturated !== null)?.saturated ?? null;
  const refused =
    baseline.refused ?? (saturated === null ? null : `this fleet would not keep up with the traffic: ${saturated}`);
  const name = alternativeName(asked, config.instances);
  return {
    name,
    routing: config.routing,
    replicas: config.instances,
    hardware: config.replica.hardware,
    refused,
    verdict: alternativeVerdict(name, metrics, refused),
    metrics,
    rejected: usual.reduce((sum, { rejected }) => sum + rejected, 0) / usual.length,
    perReplica: usual[0]!.perReplica,
    runs,
  };
}

function documentOf(
  question: WhatIfQuestion,
  fleet: RecordedFleet,
  model: EngineModel,
  baseline: Baseline,
  stepError: number,
  alternatives: WhatIfAlternative[],
): WhatIfDocument {
  const { arrivalUs, blocks, count } = fleet.trace.table;
  const { name } = model.replica.latencyProfile!;
  return {
    verdict: alternatives.map(({ verdict }) => verdict).join(' '),
    recording: {
      file: question.recording,
      requests: count,
      responses: fleet.answered.length,
      durationS: (arrivalUs[count - 1]! - arrivalUs[0]!) / 1e6,
      replicas: [...fleet.trace.observed.served.replicas].sort(),
      blockTokens: blocks?.blockTokens ?? null,
      sessions: fleet.isConversation ? 'closed-loop' : 'fixed',
    },
    baseline: {
      profile: { name, source: model.source, notes: model.notes },
      stepError,
      metrics: baseline.metrics,
      refused: baseline.refused,
    },
    alternatives,
    notes: [...(fleet.trace.notes ?? [])],
  };
}
