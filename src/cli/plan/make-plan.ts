import { fleetErrorOf } from '../../experiment/plan/model-error.js';
import type { PlanDocument, PlannedCandidate } from '../../experiment/plan/plan-document.js';
import { evaluationSettings, plannedCandidate } from '../../experiment/plan/planned-candidate.js';
import { fleetGroups } from '../../experiment/plan/planned-fleet.js';
import type { EvaluationSettings } from '../../experiment/plan/point-evaluator.js';
import { checkPrices, type GpuPrices, readPrices } from '../../experiment/plan/read-prices.js';
import type { Slo } from '../../experiment/plan/slo.js';
import { chosenCandidate, verdictOf } from '../../experiment/plan/verdict.js';
import type { SimulateRuns } from '../../experiment/run-experiment.js';
import { type DetectorVotes, detectorNotes } from '../../experiment/runs/detector-votes.js';
import { candidateName, sloText } from '../../report/plan/plan-text.js';
import { counted } from '../../report/text/format-number.js';
import { mergeSettings, type Setting, type Settings } from '../compare/settings.js';
import { type Diagnostics, saidOnce } from '../diagnostics.js';
import { conflictingFlags, missingFlag } from '../errors.js';
import { commandText } from '../execution/command-text.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { type ResolvedCandidate, resolveCandidates } from './plan-candidates.js';
import type { PlanFlags } from './plan-flags.js';
import { isDescribedByFlags, type ResolvedLoad, resolveLoad } from './planned-load.js';

export interface PlanInputs {
  flags: FlagValues<PlanFlags>;
  given: Settings;
  slos: readonly Slo[];
  argv: readonly string[];
  line: CommandLine;
  diagnostics: Diagnostics;
  simulate: SimulateRuns;
}

const FIRST_SEED = 42;
const SEEDS = 5;
/** The greatest load is found to this share of it. */
const TOLERANCE = 0.02;
/** Head-room is no more than a margin. */
const HEAD_ROOM_TOLERANCE = 0.04;

export async function makePlan({
  flags,
  given,
  slos,
  argv,
  line,
  diagnostics,
  simulate,
}: PlanInputs): Promise<PlanDocument> {
  const { values } = flags;
  const replicas = givenReplicas(flags);
  const candidates = await resolveCandidates(flags, withRate(flags, given), saidOnce(diagnostics));
  const first = candidates.find((one) => 'config' in one) as Extract<ResolvedCandidate, { config: unknown }>;
  const prices = values.prices === null ? null : await readPrices(values.prices);
  if (prices !== null) checkPrices(prices, candidates.flatMap(gpusOfCandidate));
  const load = await resolveLoad(flags, given, replicas, first.workload, diagnostics);
  const seeds = seedsOf(flags);
  const settings = evaluationSettings(slos, seeds, values['num-requests'] ?? undefined);
  const planned = await Promise.all(candidates.map((one) => planOne(one, load, settings, flags, prices, simulate)));
  const asked = {
    slos: slos.map((slo) => ({ ...slo, text: sloText(slo) })),
    load: load.planned,
    replicas,
    currency: prices?.currency ?? '',
  };
  const chosen = chosenCandidate(planned, asked);
  return {
    verdict: verdictOf(planned, chosen, asked),
    plan: {
      model: first.config.replica.model,
      ...asked,
      seeds: [...seeds],
      chosen,
      notes: notesOf(load, planned, prices, replicas === null),
      command: commandText('plan', argv, line),
    },
    candidates: planned,
  };
}

async function planOne(
  candidate: ResolvedCandidate,
  load: ResolvedLoad,
  settings: EvaluationSettings,
  flags: FlagValues<PlanFlags>,
  prices: GpuPrices | null,
  simulate: SimulateRuns,
): Promise<PlannedCandidate> {
  if ('refused' in candidate) return refusedCandidate(candidate);
  const { config } = candidate;
  const replicas = givenReplicas(flags);
  const question = {
    factor: load.planned.factor,
    replicas,
    mostReplicas: flags.values['max-instances'],
    curve: load.curve,
    tolerance: replicas === null ? HEAD_ROOM_TOLERANCE : TOLERANCE,
  };
  const modelError = fleetErrorOf(config);
  const inputs = { config, load: load.source, settings, question, modelError };
  return plannedCandidate({ ...inputs, ...(prices === null ? {} : { prices: prices.perGpuHour }) }, simulate);
}

function refusedCandidate({ named, refused }: Extract<ResolvedCandidate, { refused: string }>): PlannedCandidate {
  return {
    ...{ gpu: named.gpu ?? '', tp: named.tp ?? 0, policy: named.policy, gpusPerReplica: named.tp ?? 0 },
    ...{ maxModelLen: 0, kvTokens: 0, maxNumSeqs: 0, refused, plan: null, gpus: null, pricePerHour: null },
    ...{ modelErrorPercent: null, modelError: null },
  };
}

function gpusOfCandidate(candidate: ResolvedCandidate): string[] {
  if (!('config' in candidate)) return [candidate.named.gpu!];
  return fleetGroups(candidate.config).map(({ replica }) => replica.hardware);
}

/** Replicas of the fleet that is given; null: as few as possible. */
function givenReplicas({ values }: FlagValues<PlanFlags>): number | null {
  if (values.fleet === null) return values['num-instances'];
  if (values['num-instances'] !== null) {
    throw conflictingFlags('--num-instances', 'is given with --fleet', 'leave it out: --fleet names the replicas');
  }
  return values.fleet.reduce((sum, { count }) => sum + count, 0);
}

/** The rate of requests that flags describe; all other traffic has its own, and is scaled. */
function withRate({ values }: FlagValues<PlanFlags>, given: Settings): Settings {
  const wanted = values.rate?.[0];
  if (!isDescribedByFlags(given)) return given;
  if (wanted === undefined && values['num-instances'] === null && values.fleet === null) {
    const hint =
      'give --rate, or --num-instances or --fleet for the greatest load that a fleet keeps, or recorded traffic with --trace';
    throw missingFlag('--rate', 'is required', hint);
  }
  if (wanted?.unit === 'times') {
    throw conflictingFlags(
      '--rate',
      `'${wanted.value}x' is times a recorded rate, and there is no trace`,
      'give requests per second, or --trace',
    );
  }
  const rate: Setting = { text: String(wanted?.value ?? 1), place: '--rate' };
  return mergeSettings(given, new Map([['rate', rate]]));
}

function seedsOf({ values }: FlagValues<PlanFlags>): number[] {
  if (values.seed !== null && values.seeds !== null) {
    throw conflictingFlags('--seeds', 'given together with --seed', 'keep one of them');
  }
  return values.seed ?? Array.from({ length: values.seeds ?? SEEDS }, (_, i) => FIRST_SEED + i);
}

/** The point that a candidate is judged by. */
function detectedPoint(candidate: PlannedCandidate): { name: string; detectors?: DetectorVotes }[] {
  const { plan } = candidate;
  if (plan?.at?.detectors === undefined) return [];
  const { detectors, rate, replicas } = plan.at;
  return [
    {
      name: `${candidateName(candidate)}, ${counted(replicas, 'replica')} at ${Number(rate.toPrecision(4))} req/s`,
      detectors,
    },
  ];
}

function notesOf(
  load: ResolvedLoad,
  planned: readonly PlannedCandidate[],
  prices: GpuPrices | null,
  isLeast: boolean,
): string[] {
  const points = planned.flatMap(({ plan }) => (plan?.at == null ? [] : [plan.at]));
  const longest = Math.max(0, ...points.map(({ requests }) => requests));
  const gpus = new Set(planned.map(({ gpu }) => gpu));
  return [
    ...load.planned.notes,
    ...(load.recorded === null || longest <= load.recorded
      ? []
      : [
          `the recording is too short for a steady state: it was lengthened to ${counted(longest, 'request')} by its own statistics (sessions drawn from it, arriving with its rate and variation)`,
        ]),
    ...detectorNotes(planned.flatMap(detectedPoint)).map((note) => note.replace(/\.$/, '')),
    ...planned.flatMap((one) => (one.plan?.notes ?? []).map((note) => `${candidateName(one)}: ${note}`)),
    ...(prices === null && gpus.size > 1 && isLeast && points.some(({ kept }) => kept)
      ? ['no prices were given: the fleet with the fewest GPUs is named; --prices chooses the cheapest']
      : []),
  ];
}
