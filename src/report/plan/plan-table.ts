import type { PlanDocument, PlannedCandidate } from '../../experiment/plan/plan-document.js';
import { csvText } from '../text/csv-text.js';
import { createStyle, type TextOptions } from '../text/style.js';
import type { Alignment } from '../text/text-table.js';
import { atReplicas } from './fleet-cost.js';
import {
  candidateName,
  lastKind,
  latencyText,
  measureName,
  missText,
  percentText,
  priceText,
  rateNumber,
  replicasText,
} from './plan-text.js';

/** The plan as text: the verdict, a table of the candidates, what is next to the answer, and what to know of it. */
export function planTable(document: PlanDocument, options: TextOptions): string {
  const style = createStyle(options);
  const { plan, verdict } = document;
  const rows = planRows(document);
  const alignments = rows[0]!.map((_, i): Alignment => (i < 2 ? 'left' : 'right'));
  const beside = nextTo(document);
  const sections = [
    style.prose(verdict).map(style.heading),
    style.table(rows, alignments),
    ...(beside.length === 0 ? [] : [beside.flatMap((line) => style.prose(line, 2))]),
    [...plan.notes.map(sentence), `${seedsText(plan.seeds)}.`].flatMap((line) => style.prose(line)).map(style.faint),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** A row of names, then one for each candidate. */
export function planRows({ plan, candidates }: PlanDocument): string[][] {
  const hasPrices = candidates.some(({ pricePerHour }) => pricePerHour !== null);
  const policies = new Set(candidates.map(({ policy }) => policy));
  const head = [
    'replica',
    policies.size > 1 ? 'policy' : 'keeps',
    'replicas',
    'GPUs',
    ...(hasPrices ? ['price'] : []),
    'req/s',
    'greatest req/s',
    'head-room',
    ...(candidates.flatMap((one) => one.plan?.at ?? [])[0]?.latencies ?? plan.slos).map(measureName),
  ];
  const rows = candidates.map((candidate) => [
    candidateName(candidate),
    policies.size > 1 ? candidate.policy : stateOf(candidate),
    ...figures(candidate, plan.load.baseRate, hasPrices, plan.currency),
  ]);
  return [head, ...rows];
}

function stateOf({ plan }: PlannedCandidate): string {
  if (plan === null) return 'does not fit';
  if (plan.at === null) return 'no';
  return plan.at.kept ? 'yes' : 'no';
}

function figures(
  { gpus, plan, pricePerHour }: PlannedCandidate,
  baseRate: number,
  hasPrices: boolean,
  currency: string,
): string[] {
  const price = hasPrices ? [pricePerHour === null ? '-' : priceText(pricePerHour, currency)] : [];
  if (plan?.at == null) return ['-', '-', ...price, '-', '-', '-'];
  const { at, greatest, replicas, replicasRange } = plan;
  const [low, high] = replicasRange ?? [replicas, replicas];
  const range = low === replicas && high === replicas ? '' : ` (${low} to ${high ?? 'more'})`;
  return [
    `${replicas}${range}`,
    String(gpus),
    ...price,
    rateNumber(at.rate),
    greatest === null ? '-' : Number.isFinite(greatest) ? rateNumber(greatest * baseRate) : 'not found',
    greatest === null || !at.kept ? '-' : percentText(Math.max(0, greatest / at.factor - 1)),
    ...at.latencies.map(latencyText),
  ];
}

/** What one replica more or less does, and why some candidates have no fleet. */
export function nextTo({ plan, candidates }: PlanDocument): string[] {
  const { chosen, slos } = plan;
  return candidates.flatMap((candidate, i) => {
    const name = candidateName(candidate);
    if (candidate.refused !== null) return [`${name}: ${candidate.refused}`];
    const { at, oneLess, oneMore, unreachable, idle } = candidate.plan!;
    if (unreachable.length > 0) {
      const reached = unreachable.map(
        (slo) =>
          `${measureName(slo)} ${latencyText(idle.latencies.find(({ of, at: p }) => of === slo.of && p === slo.at)!)}`,
      );
      return [
        `${name}: no fleet keeps the SLOs: ${reached.join(', ')} on an idle ${candidate.fleet === undefined ? 'replica' : 'fleet'}`,
      ];
    }
    if (at === null || (i !== chosen && candidates.length > 1)) return [];
    return [oneLess, oneMore]
      .filter((point) => point !== null)
      .map((point) => {
        const latencies = slos.map(
          (slo) =>
            `${measureName(slo)} ${latencyText(point.latencies.find(({ of, at: p }) => of === slo.of && p === slo.at)!)}`,
        );
        const state = point.kept ? `keeps the SLOs, ${latencies.join(', ')}` : missText(point, slos);
        return `${name}, ${lastKind(candidate)} ${point.replicas < at.replicas ? 'less' : 'more'} (${replicasText(point.replicas)}): ${state}`;
      });
  });
}

function seedsText(seeds: readonly number[]): string {
  const which =
    seeds.length === 1 ? `Seed ${seeds[0]}` : `Seeds ${seeds.join(', ')}, the same for every fleet and load`;
  return `${which}; warm-up and the last arrivals are left out`;
}

function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

/** One line for each point that was evaluated: of the answer, of what is next to it, and of the load curve. */
export function planCsv({ candidates }: PlanDocument): string {
  const points = candidates.flatMap((candidate) => {
    const { plan } = candidate;
    if (plan === null) return [];
    const roles = [
      ...(plan.at === null ? [] : [['answer', plan.at] as const]),
      ...(plan.oneLess === null ? [] : [['one-less', plan.oneLess] as const]),
      ...(plan.oneMore === null ? [] : [['one-more', plan.oneMore] as const]),
      ...(plan.quick === null ? [] : [['quick-steps', plan.quick] as const]),
      ...(plan.slow === null ? [] : [['slow-steps', plan.slow] as const]),
      ...plan.curve.map((point) => ['curve', point] as const),
    ];
    return roles.map(([role, point]) => ({ candidate, role, point }));
  });
  const measures = points[0]?.point.latencies ?? [];
  const key = (latency: { of: string; at: 'mean' | number }) =>
    `${latency.of}_${latency.at === 'mean' ? 'mean' : `p${latency.at}`}_ms`;
  const head = [
    ...[
      'gpu',
      'tp',
      'policy',
      'point',
      'replicas',
      'gpus',
      'price_per_hour',
      'rate',
      'kept',
      'why',
      'seeds',
      'requests',
    ],
    ...measures.flatMap((measure) => [key(measure), `${key(measure)}_low`, `${key(measure)}_high`]),
  ];
  const rows = points.map(({ candidate, role, point }) => [
    ...[candidate.gpu, candidate.tp, candidate.policy, role, point.replicas],
    ...costAt(candidate, point.replicas),
    ...[point.rate, point.kept, point.why ?? '', point.seeds, point.requests],
    ...point.latencies.flatMap(({ ms, low, high }) => [ms ?? '', low ?? '', high ?? '']),
  ]);
  return csvText([head, ...rows]);
}

/** GPUs of a fleet with so many replicas, and what they cost. */
function costAt({ fleet, gpus, gpusPerReplica, pricePerHour }: PlannedCandidate, replicas: number): (number | '')[] {
  if (fleet !== undefined) {
    const price = atReplicas(fleet, replicas, (kind) => kind.pricePerHour);
    return [atReplicas(fleet, replicas, (kind) => kind.gpus)!, price ?? ''];
  }
  const all = replicas * gpusPerReplica;
  return [all, pricePerHour === null ? '' : Number(((pricePerHour / gpus!) * all).toFixed(4))];
}
