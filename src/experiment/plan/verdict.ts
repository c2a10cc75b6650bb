import {
  candidateName,
  latencyText,
  measureName,
  missText,
  msText,
  percentText,
  priceText,
  rateText,
  replicasText,
  sloText,
} from '../../report/plan/plan-text.js';
import type { PlanDocument, PlannedCandidate } from './plan-document.js';
import { latencyOf, type PlanPoint } from './plan-point.js';
import type { Slo } from './slo.js';

type Asked = Pick<PlanDocument['plan'], 'slos' | 'load' | 'replicas' | 'currency'>;

/** The candidate to take: the cheapest; without prices the one with the fewest GPUs, or with the greatest load. */
export function chosenCandidate(
  candidates: readonly PlannedCandidate[],
  { replicas }: Pick<Asked, 'replicas'>,
): number | null {
  const cost = ({ gpus, plan, pricePerHour }: PlannedCandidate) =>
    replicas === null ? (pricePerHour ?? gpus!) : -(plan!.greatest ?? 0) / (pricePerHour ?? gpus!);
  let chosen: number | null = null;
  for (const [i, candidate] of candidates.entries()) {
    if (candidate.plan?.at == null || candidate.plan.greatest === null) continue;
    if (replicas === null && !candidate.plan.at.kept) continue;
    if (chosen === null || cost(candidate) < cost(candidates[chosen]!)) chosen = i;
  }
  return chosen;
}

/** The answer in one sentence. */
export function verdictOf(candidates: readonly PlannedCandidate[], chosen: number | null, asked: Asked): string {
  if (chosen === null) return `${noFleet(candidates, asked)}${unservedText(candidates[0]!)}.`;
  const candidate = candidates[chosen]!;
  const text =
    asked.replicas === null
      ? leastText(candidate, candidates, asked)
      : greatestText(candidate, candidates.length, asked);
  return `${text}${unservedText(candidate)}.`;
}

function fleetText(candidate: PlannedCandidate, replicas: number): string {
  const { fleet, gpu, gpusPerReplica, tp } = candidate;
  if (fleet !== undefined) return `${candidateName(candidate)} (${replicasText(replicas)})`;
  return `${replicas * gpusPerReplica} ${gpu} (${replicasText(replicas)}, tp ${tp})`;
}

const slosText = (slos: readonly Slo[]) => slos.map(sloText).join(' and ');
const keep = (replicas: number) => (replicas === 1 ? 'keeps' : 'keep');

function leastText(candidate: PlannedCandidate, candidates: readonly PlannedCandidate[], asked: Asked): string {
  const { plan, pricePerHour } = candidate;
  const { at, greatest, oneLess, replicasRange, replicas } = plan!;
  const parts = [
    `${fleetText(candidate, replicas!)} ${keep(replicas! * candidate.gpusPerReplica)} ${slosText(asked.slos)} at ${rateText(at!.rate)}${priced(pricePerHour, candidates, asked)}: ${latenciesText(candidate, at!, asked.slos)}`,
    ...(greatest === null ? [] : [headRoomText(greatest, at!)]),
    ...(oneLess === null
      ? []
      : [
          `${replicasText(oneLess.replicas)} ${oneLess.kept ? 'too' : `${oneLess.replicas === 1 ? 'does' : 'do'} not: ${missText(oneLess, asked.slos)}`}`,
        ]),
  ];
  const [low, high] = replicasRange ?? [replicas, replicas];
  if (low !== replicas || high !== replicas) {
    parts.push(`${low} to ${high ?? `more than ${2 * replicas! + 2}`} replicas within the model's error`);
  }
  return parts.join('; ');
}

function priced(price: number | null, candidates: readonly PlannedCandidate[], { currency }: Asked): string {
  if (price === null) return '';
  return ` for ${priceText(price, currency)}${candidates.length > 1 ? `, the cheapest of ${candidates.length}` : ''}`;
}

function headRoomText(greatest: number, at: PlanPoint): string {
  if (!Number.isFinite(greatest)) return 'head-room beyond what was searched';
  return `head-room ${percentText(Math.max(0, greatest / at.factor - 1))}`;
}

/** `TTFT p99 410 ms ± 30 from seeds, model within 6 %`. */
function latenciesText({ modelErrorPercent }: PlannedCandidate, point: PlanPoint, slos: readonly Slo[]): string {
  const from = point.seeds > 1 ? ' from seeds' : ' from parts of the time';
  return slos
    .map((slo, i) => {
      const latency = latencyOf(point, slo);
      const error = modelErrorPercent === null ? 'model error not known' : `model within ${modelErrorPercent[i]} %`;
      return `${measureName(slo)} ${latencyText(latency)}${latency.low === null ? '' : from}, ${error}`;
    })
    .join('; ');
}

function greatestText(candidate: PlannedCandidate, of: number, { slos, load, replicas }: Asked): string {
  const { at, greatest, greatestRange } = candidate.plan!;
  const fleet = fleetText(candidate, replicas!);
  const most = greatest === null ? null : greatest * load.baseRate;
  if (load.rate === null) {
    const range = greatestRange ?? [null, null];
    const [low, high] = range.map((factor) => (factor === null ? null : factor * load.baseRate));
    const within =
      low == null || high == null ? '' : ` (${rateText(low)} to ${rateText(high)} within the model's error)`;
    return `${fleet} ${keep(replicas!)} ${slosText(slos)} up to ${rateText(most!)}${within}${of > 1 ? `, the most for its ${candidate.pricePerHour === null ? 'GPUs' : 'price'} of ${of}` : ''}: ${latenciesText(candidate, at!, slos)}`;
  }
  if (at!.kept) {
    return `${fleet} ${keep(replicas!)} ${slosText(slos)} at ${rateText(at!.rate)}: ${latenciesText(candidate, at!, slos)}; ${headRoomText(greatest!, at!)}`;
  }
  return `${fleet} ${replicas === 1 ? 'does' : 'do'} not keep ${slosText(slos)} at ${rateText(at!.rate)}: ${missText(at!, slos)}; up to ${rateText(most!)} ${replicas === 1 ? 'it does' : 'they do'}`;
}

/** Why nothing keeps the SLOs: what the best reaches. */
function noFleet(candidates: readonly PlannedCandidate[], { slos, load, replicas }: Asked): string {
  const planned = candidates.filter(({ plan }) => plan !== null);
  const best = planned.reduce((a, b) => (idleMs(b, slos) < idleMs(a, slos) ? b : a));
  const { idle, unreachable, oneLess } = best.plan!;
  if (unreachable.length > 0) {
    const reasons = unreachable.map(
      (slo) => `${measureName(slo)} is ${msText(latencyOf(idle, slo).ms!)}${whyIdle(slo, idle)}`,
    );
    if (best.fleet !== undefined) {
      return `${fleetText(best, replicas!)} keep ${slosText(slos)} at no load: on the idle fleet ${reasons.join(', and ')}`;
    }
    return `No fleet keeps ${slosText(slos)}: on an idle ${best.gpu} with tp ${best.tp}, the best of those tried, ${reasons.join(', and ')}`;
  }
  if (oneLess !== null) {
    return `No fleet of up to ${replicasText(oneLess.replicas)} keeps ${slosText(slos)} at ${rateText(oneLess.rate)}: ${missText(oneLess, slos)}; raise --max-instances to search further`;
  }
  return `${replicas === null ? 'No fleet keeps' : `${fleetText(best, replicas)} keep`} ${slosText(slos)} at ${load.rate === null ? 'no load that was tried' : rateText(load.rate)}`;
}

function idleMs({ plan }: PlannedCandidate, slos: readonly Slo[]): number {
  return Math.max(...slos.map((slo) => (latencyOf(plan!.idle, slo).ms ?? Number.POSITIVE_INFINITY) / slo.limitMs));
}

function whyIdle({ of }: Slo, { promptTokens }: PlanPoint): string {
  if (of === 'ttft')
    return `: a prompt alone takes that long (${promptTokens.mean} tokens on the mean, p99 ${promptTokens.p99})`;
  return of === 'e2e' ? ': one request alone takes that long' : ': a step for one request takes that long';
}

/** Requests that no fleet serves are never left out without a word. */
function unservedText({ plan, maxModelLen }: PlannedCandidate): string {
  const point = plan?.at ?? plan?.idle;
  if (point == null) return '';
  const cut = point.lengthCapped > 0 ? `; ${percentText(point.lengthCapped)} of the responses are cut off at it` : '';
  if (point.unservable === 0)
    return point.lengthCapped > 0
      ? `; ${percentText(point.lengthCapped)} of the responses are cut off at ${maxModelLen} tokens, the longest context`
      : '';
  return `; ${percentText(point.unservable)} of the requests are longer than ${maxModelLen} tokens, the longest that a replica holds: no fleet serves them, and no figure counts them${cut}`;
}
