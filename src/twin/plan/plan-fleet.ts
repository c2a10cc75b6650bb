import { generatedLoad, type LoadSource, recordedLoad } from '../../experiment/plan/load-source.js';
import { modelErrorOf, type StepTimeError } from '../../experiment/plan/model-error.js';
import type { PlannedLoad } from '../../experiment/plan/plan-document.js';
import { evaluationSettings, plannedCandidate } from '../../experiment/plan/planned-candidate.js';
import { chosenCandidate, verdictOf } from '../../experiment/plan/verdict.js';
import type { ReadTrace, TraceRecipe } from '../../experiment/recipes/workload-recipe.js';
import type { SimulateRuns } from '../../experiment/run-experiment.js';
import { RunSimulator } from '../../experiment/runs/simulate-run.js';
import { replicaLatency } from '../../replica/replica-latency.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import { sloText } from '../../report/plan/plan-text.js';
import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { sessionArrivals } from '../../workload/fit/resample-trace.js';
import { isLengthPreset, presetSpec } from '../../workload/generate/presets.js';
import { selectRows } from '../../workload/tools/select-rows.js';
import {
  baselineCheck,
  recordedModel,
  recordingFacts,
  stepErrorOf,
  type WhatIfWatch,
} from '../whatif/answer-whatif.js';
import { askedConfig } from '../whatif/asked-config.js';
import { checkBaseline, tooFarOff } from '../whatif/baseline.js';
import { type RecordedFleet, readRecordedFleet } from '../whatif/recorded-fleet.js';
import type { WhatIfQuestion } from '../whatif/whatif-question.js';
import type { FleetPlan } from './fleet-plan.js';
import type { PlannedTraffic, PlanRequest } from './plan-request.js';

const SEEDS = [42, 43, 44];
/** Head-room is no more than a margin. */
const HEAD_ROOM_TOLERANCE = 0.04;

/**
 * Finds the least fleet that keeps SLOs under the traffic that an endpoint had, or under a preset. Recorded traffic is first simulated as
 * it was: the error of that is the error of the plan, and where it is too large nothing is planned. Computes in this thread.
 * @param question its first alternative is the policy to plan with
 */
export async function planFleet(
  question: WhatIfQuestion,
  request: PlanRequest,
  watch: WhatIfWatch,
): Promise<FleetPlan> {
  const { traffic } = request;
  if (traffic.kind === 'preset') {
    const { replica } = question;
    const config = askedConfig(question, UNRECORDED, replica, question.alternatives[0]!);
    const load = presetLoad(traffic);
    return planned({ config, load, modelError: modelErrorOf(replica) }, request, watch, {});
  }
  await watch({ stage: 'reading', done: 0, total: 0 });
  const fleet = await readRecordedFleet(question);
  const model = await recordedModel(question, fleet, watch);
  await watch({ stage: 'checking', done: 0, total: 0 });
  const baseline = checkBaseline(fleet, model.replica, replicaLatency(model.replica), model.speeds);
  const step = stepErrorOf(
    model.replica,
    baseline,
    model.source === 'fitted' ? fleet.answered.length : Number.POSITIVE_INFINITY,
  );
  const known = {
    recording: recordingFacts(fleet),
    baseline: baselineCheck(model, baseline, step),
    present: fleet.trace.observed.served.replicas.length,
    notes: [...(fleet.trace.notes ?? [])],
  };
  const load = recorded(question.recording, fleet, traffic.times);
  // A fleet that was saturated can be planned for: step times are known, and the plan does not compare with its latencies.
  const refused = tooFarOff(fleet, baseline.metrics);
  if (refused !== null) return unplanned(model.replica, load, request, refused, known);
  const config = askedConfig(question, fleet, model.replica, question.alternatives[0]!);
  const modelError = { step, host: 0, why: 'the error of step times, checked against the recording' };
  return planned({ config, load, modelError }, request, watch, known);
}

/** One replica of each: a plan finds how many there have to be. */
const UNRECORDED = { routingUs: 0, trace: { observed: { served: { replicas: ['planned'] } } } };

interface Planned {
  readonly config: ClusterConfig;
  readonly load: Load;
  readonly modelError: StepTimeError | null;
}

interface Load {
  readonly source: LoadSource;
  /** Copies what was read once: a plan has many runs. */
  readonly read?: ReadTrace;
  readonly planned: PlannedLoad;
}

type Known = Partial<Pick<FleetPlan, 'recording' | 'baseline' | 'present' | 'notes'>>;

async function planned(
  { config, load, modelError }: Planned,
  { mostReplicas, requests, slos }: PlanRequest,
  watch: WhatIfWatch,
  known: Known,
): Promise<FleetPlan> {
  const { factor } = load.planned;
  const question = { factor, replicas: null, mostReplicas, curve: [], tolerance: HEAD_ROOM_TOLERANCE };
  const inputs = {
    config,
    load: load.source,
    settings: evaluationSettings(slos, SEEDS, requests),
    question,
    modelError,
  };
  const candidates = [await plannedCandidate(inputs, inThisThread(watch, load.read))];
  const asked = askedOf(slos, load);
  const chosen = chosenCandidate(candidates, asked);
  const verdict = verdictOf(candidates, chosen, asked).replace('raise --max-instances', 'allow more replicas');
  const notes = [...(candidates[0]!.plan?.notes ?? []), ...(known.notes ?? [])];
  return { ...documentOf(config.replica, asked, chosen, known), verdict, candidates, notes };
}

function unplanned(
  replica: ReplicaModelConfig,
  load: Load,
  { slos }: PlanRequest,
  refused: string,
  known: Known,
): FleetPlan {
  const document = documentOf(replica, askedOf(slos, load), null, known);
  return { ...document, verdict: `No fleet can be planned: ${refused}.` };
}

function askedOf(slos: PlanRequest['slos'], load: Load) {
  return {
    slos: slos.map((slo) => ({ ...slo, text: sloText(slo) })),
    ...{ load: load.planned, replicas: null, currency: '' },
  };
}

function documentOf(
  { model }: ReplicaModelConfig,
  asked: ReturnType<typeof askedOf>,
  chosen: number | null,
  { baseline = null, notes = [], present = null, recording = null }: Known,
): FleetPlan {
  const plan = { model, ...asked, seeds: [...SEEDS], chosen, notes: [] };
  return { verdict: '', recording, baseline, present, plan, candidates: [], notes };
}

/** Runs one after the other: searches ask for several at once, and a simulator has one workload at a time. */
function inThisThread(watch: WhatIfWatch, read: ReadTrace | undefined): SimulateRuns {
  const simulator = new RunSimulator(read);
  let done = 0;
  let last: Promise<unknown> = Promise.resolve();
  return async (runs) => {
    const found = runs.map((run) => {
      const result = last.then(async () => {
        const summary = await simulator.simulate(run);
        done++;
        await watch({ stage: 'simulating', done, total: 0 });
        return summary;
      });
      last = result;
      return result;
    });
    return Promise.all(found);
  };
}

function recorded(file: string, { trace }: RecordedFleet, times: number): Load {
  const { requestsPerS } = sessionArrivals(trace);
  const recipe: TraceRecipe = {
    ...{ kind: 'trace', header: null, data: file, sha256: '', sessionMode: 'fixed', thinkTimeMs: null },
    ...{ thinkTimeDist: null, maxTurns: null, anyModel: true, client: { maxInFlight: 0 } },
  };
  const source = recordedLoad(recipe, { requests: trace.table.count, requestsPerS });
  const rows = Int32Array.from({ length: trace.table.count }, (_, row) => row);
  const planned = { source: 'recording', baseRate: requestsPerS, rate: times * requestsPerS, factor: times, notes: [] };
  return { source, planned, read: async () => selectRows(trace, rows) };
}

function presetLoad({ name, rate }: Extract<PlannedTraffic, { kind: 'preset' }>): Load {
  const spec = presetSpec(name);
  const source = generatedLoad({
    kind: 'spec',
    // Presets of lengths say nothing of arrivals: they come at random.
    spec: isLengthPreset(name)
      ? { ...spec, clients: spec.clients!.map((client) => ({ ...client, arrival: { process: 'poisson' } })) }
      : spec,
    options: {},
  });
  const { baseRate } = source;
  return { source, planned: { source: name, baseRate, rate, factor: rate / baseRate, notes: [] } };
}
