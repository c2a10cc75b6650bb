import { greatestWhere, leastWhere, outOfOrder, type Tried } from './bisect.js';
import type { PlanPoint } from './plan-point.js';
import { latencyOf } from './plan-point.js';
import type { PointEvaluator } from './point-evaluator.js';
import type { Slo } from './slo.js';

/** What is asked of a kind of replica. */
export interface PlanQuestion {
  /** How many times the base rate; null: the greatest that the fleet keeps. */
  factor: number | null;
  /** Null: as few as keep the SLOs. */
  replicas: number | null;
  mostReplicas: number;
  /** Further loads of the load curve, in times the base rate. */
  curve: readonly number[];
  /** How exactly the greatest load is found, as a share of it. */
  tolerance: number;
}

/** The plan for one kind of replica. */
export interface CandidatePlan {
  /** The fleet: as given, or the least that keeps the SLOs; null when none does. */
  replicas: number | null;
  /** Under the load that was asked for, else under the greatest that it keeps; null when it keeps none. */
  at: PlanPoint | null;
  oneLess: PlanPoint | null;
  oneMore: PlanPoint | null;
  /** The fleets that keep the load with the quickest and with the slowest steps that the model's error allows. */
  replicasRange: [number, number | null] | null;
  /** The same for the point itself. */
  quick: PlanPoint | null;
  slow: PlanPoint | null;
  /** The greatest load that the fleet keeps, in times the base rate; null when it keeps none. */
  greatest: number | null;
  /** The same with the slowest and with the quickest steps, where only the greatest load is asked for. */
  greatestRange: [number | null, number | null] | null;
  /** Every load that was tried with this fleet, lowest first. */
  curve: PlanPoint[];
  /** One request at a time. */
  idle: PlanPoint;
  /** SLOs that even an idle replica misses. */
  unreachable: Slo[];
  notes: string[];
}

/** Finds the fleet or the load that keeps the SLOs, and what is next to it. */
export async function planCandidate(evaluator: PointEvaluator, question: PlanQuestion): Promise<CandidatePlan> {
  const { slos } = evaluator.settings;
  const [idle, capacity] = await Promise.all([evaluator.idle(), evaluator.capacity()]);
  const unreachable = slos.filter((slo) => (latencyOf(idle, slo).ms ?? Number.POSITIVE_INFINITY) > slo.limitMs);
  const nothing: CandidatePlan = {
    ...{ replicas: question.replicas, at: null, oneLess: null, oneMore: null, replicasRange: null },
    ...{ quick: null, slow: null, greatest: null, greatestRange: null, curve: [], idle, unreachable, notes: [] },
  };
  if (unreachable.length > 0) return nothing;
  const notes: string[] = [];
  const replicas = question.replicas ?? (await leastFleet(evaluator, question, capacity, notes));
  if (replicas === null) {
    const best = await evaluator.whole({ replicas: question.mostReplicas, factor: question.factor! });
    return { ...nothing, oneLess: best, notes };
  }
  const greatest = await greatestLoad(evaluator, replicas, question, capacity, notes);
  const isRangeAsked = question.factor === null && greatest !== null && evaluator.modelError !== null;
  const factor = question.factor ?? greatest;
  if (factor === null) return { ...nothing, curve: await curveOf(evaluator, replicas, question, null), notes };
  const [at, oneLess, oneMore] = await Promise.all([
    evaluator.whole({ replicas, factor }),
    replicas > 1 ? evaluator.whole({ replicas: replicas - 1, factor }) : null,
    evaluator.whole({ replicas: replicas + 1, factor }),
  ]);
  return {
    ...nothing,
    replicas,
    at,
    oneLess,
    oneMore,
    ...(await withError(evaluator, replicas, factor, question)),
    greatest,
    greatestRange: isRangeAsked ? await loadRange(evaluator, replicas, question, greatest) : null,
    curve: await curveOf(evaluator, replicas, question, greatest),
    notes,
  };
}

/** The least fleet above every one that was tried and failed. */
async function leastFleet(
  evaluator: PointEvaluator,
  { factor, mostReplicas }: PlanQuestion,
  capacity: number,
  notes: string[],
): Promise<number | null> {
  const rate = factor! * evaluator.load.baseRate;
  const tried: Tried = new Map();
  const holds = async (replicas: number) => {
    const { kept } = await evaluator.keeps({ replicas, factor: factor! });
    tried.set(replicas, kept);
    return kept;
  };
  const found = await leastWhere(holds, Math.ceil(rate / capacity), mostReplicas);
  if (found === null) return null;
  // What is next to the answer is reported in any case: it shows whether more replicas are always better.
  await holds(found + 1);
  const broken = outOfOrder(tried, 'more');
  if (broken === null) return found;
  notes.push(
    `${broken.holds} replicas keep the SLOs but ${broken.fails} do not: more replicas are not always better here, and the plan has more than ${broken.fails}`,
  );
  for (let replicas = broken.fails + 1; replicas <= mostReplicas; replicas++)
    if (await holds(replicas)) return replicas;
  return null;
}

async function greatestLoad(
  evaluator: PointEvaluator,
  replicas: number,
  { factor, tolerance, curve }: PlanQuestion,
  capacity: number,
  notes: string[],
): Promise<number | null> {
  const { baseRate } = evaluator.load;
  const tried: Tried = new Map();
  const holds = async (at: number) => {
    const { kept } = await evaluator.keeps({ replicas, factor: at });
    tried.set(at, kept);
    return kept;
  };
  const known = factor === null ? curve : [...curve, factor];
  await Promise.all(known.map(holds));
  const failing = [...tried].filter(([, kept]) => !kept).map(([at]) => at);
  const firstFailing = Math.min(...failing);
  const from = Math.max(0, ...[...tried].filter(([at, kept]) => kept && at < firstFailing).map(([at]) => at));
  const full = (capacity * replicas) / baseRate;
  const guess = firstFailing < Number.POSITIVE_INFINITY ? firstFailing : Math.max(full, from * 1.1);
  const bounds = { from, guess, least: LEAST_SHARE * full, most: MOST_SHARE * full, tolerance };
  let found = await greatestWhere(holds, bounds);
  // One seed may keep the SLOs by far where all together do not: what is reported as the greatest load is kept with all.
  const holdsWhole = async (at: number) => (await evaluator.whole({ replicas, factor: at })).kept;
  if (factor === null && found !== null && Number.isFinite(found) && !(await holdsWhole(found))) {
    found = await greatestWhere(holdsWhole, { ...bounds, from: 0, guess: found });
  }
  const broken = outOfOrder(tried, 'less');
  if (broken !== null) {
    const [low, high] = [broken.fails, broken.holds].map((at) => Number((at * baseRate).toPrecision(3)));
    notes.push(`${high} req/s are kept but ${low} are not: the greatest load is the one below ${low}`);
  }
  return found;
}

/** The greatest load with the slowest and with the quickest steps that are likely. */
async function loadRange(
  evaluator: PointEvaluator,
  replicas: number,
  { tolerance }: PlanQuestion,
  greatest: number,
): Promise<[number | null, number | null]> {
  const { step, host } = evaluator.modelError!;
  const near = 1 + Math.max(step, host);
  const search = (error: 1 | -1) =>
    greatestWhere(async (factor) => (await evaluator.keeps({ replicas, factor, error })).kept, {
      from: 0,
      guess: error === 1 ? greatest : greatest * near * near,
      least: greatest / 16,
      most: greatest * 4,
      tolerance: 2 * tolerance,
    });
  return Promise.all([search(1), search(-1)]);
}

/** Loads far below and far above what a replica can do at most are not searched. */
const LEAST_SHARE = 1 / 256;
const MOST_SHARE = 16;

async function curveOf(
  evaluator: PointEvaluator,
  replicas: number,
  { curve, factor }: PlanQuestion,
  greatest: number | null,
): Promise<PlanPoint[]> {
  const shares = greatest === null || !Number.isFinite(greatest) || curve.length > 0 ? [] : CURVE_SHARES;
  const loads = [...curve, ...(factor === null ? [] : [factor]), ...shares.map((share) => share * greatest!)];
  if (greatest !== null && Number.isFinite(greatest)) loads.push(greatest);
  // Loads that were asked for have all seeds; others as many as their verdict needs.
  const points = await Promise.all(
    [...new Set(loads)].map((at) =>
      curve.includes(at) ? evaluator.whole({ replicas, factor: at }) : evaluator.keeps({ replicas, factor: at }),
    ),
  );
  return points.sort((a, b) => a.factor - b.factor);
}

const CURVE_SHARES = [0.25, 0.5, 0.75, 0.9, 1.05, 1.2];

/** The point and the fleet at both ends of what is known of step times. */
async function withError(
  evaluator: PointEvaluator,
  replicas: number,
  factor: number,
  question: PlanQuestion,
): Promise<Pick<CandidatePlan, 'quick' | 'slow' | 'replicasRange'>> {
  if (evaluator.modelError === null) return { quick: null, slow: null, replicasRange: null };
  const [quick, slow] = await Promise.all([
    evaluator.whole({ replicas, factor, error: -1 }),
    evaluator.whole({ replicas, factor, error: 1 }),
  ]);
  if (question.replicas !== null) return { quick, slow, replicasRange: null };
  let least = replicas;
  while (least > 1 && (await evaluator.keeps({ replicas: least - 1, factor, error: -1 })).kept) least--;
  let most: number | null = replicas;
  if (!slow.kept) {
    const limit = Math.min(question.mostReplicas, 2 * replicas + 2);
    for (most = replicas + 1; most <= limit; most++) {
      if ((await evaluator.keeps({ replicas: most, factor, error: 1 })).kept) break;
    }
    if (most > limit) most = null;
  }
  return { quick, slow, replicasRange: [least, most] };
}
