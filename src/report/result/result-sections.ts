import type {
  ClusterMetrics,
  DecisionSummary,
  Goodput,
  MeanAndTail,
  Quantiles,
  ResultDocument,
  SessionMetrics,
} from '../../simulator/result-document.js';
import { counted, decimal, percent, wholeNumber } from '../text/format-number.js';
import type { Style } from '../text/style.js';

/** Sections of the report that only some runs have. Each is a list of lines, empty when there is nothing to show. */

/** A single class adds nothing to the lines of the cluster. */
export function classLines(slo: ResultDocument['slo'], style: Style): string[] {
  const classes = Object.entries(slo);
  if (classes.length < 2) return [];
  const ms = ({ mean_us, p99_us }: MeanAndTail) => [decimal(mean_us / 1000), decimal(p99_us / 1000)];
  const names = ['Class, ms', 'requests', 'TTFT mean', 'p99', 'ITL mean', 'p99', 'E2E mean', 'p99'];
  const rows = classes.map(([name, { count, ttft, itl, e2e }]) => [
    name,
    wholeNumber(count),
    ...ms(ttft),
    ...ms(itl),
    ...ms(e2e),
  ]);
  return numbersTable([names, ...rows], style);
}

/** A single model adds nothing to the lines of the cluster. */
export function modelLines(models: ResultDocument['models'], style: Style): string[] {
  if (models === undefined) return [];
  const ms = ({ mean_us, p99_us }: MeanAndTail) => [decimal(mean_us / 1000), decimal(p99_us / 1000)];
  const names = ['Model, ms', 'requests', 'completed', 'TTFT mean', 'p99', 'ITL mean', 'p99', 'E2E mean', 'p99'];
  const rows = Object.entries(models).map(([name, { completed, requests, ttft, itl, e2e }]) => [
    name,
    wholeNumber(requests),
    wholeNumber(completed),
    ...ms(ttft),
    ...ms(itl),
    ...ms(e2e),
  ]);
  return numbersTable([names, ...rows], style);
}

export function goodputLines(goodput: Goodput | undefined, style: Style): string[] {
  if (goodput === undefined) return [];
  const rows = Object.entries(goodput.per_class).map(([name, target]) => [
    name,
    wholeNumber(target.count),
    percent(target.slo_attainment),
    decimal(target.goodput_rps),
    Object.entries(target.slo_attainment_by_dim)
      .map(([dimension, share]) => `${dimension.toUpperCase()} ${percent(share)}`)
      .join(', '),
  ]);
  const all = ['all', '', percent(goodput.slo_attainment), decimal(goodput.goodput_rps), ''];
  return style.table(
    [['Goodput', 'arrived', 'within', 'requests/s', 'by target'], ...rows, all],
    ['left', 'right', 'right', 'right', 'left'],
  );
}

export function tenantLines({ jain, tenants }: ResultDocument['fairness'], style: Style): string[] {
  const entries = Object.entries(tenants);
  if (entries.length === 0) return [];
  const rows = entries.map(([name, { requests, tokens }]) => [name, wholeNumber(requests), wholeNumber(tokens)]);
  return [
    ...numbersTable([['Tenant', 'requests', 'tokens'], ...rows], style),
    `fairness (Jain's index of tokens) ${decimal(jain, 4)}`,
  ];
}

export function sessionLines(sessions: SessionMetrics | undefined, style: Style): string[] {
  if (sessions === undefined) return [];
  const row = (title: string, { mean, p50, p95, p99 }: Quantiles) => [
    title,
    ...[mean, p50, p95, p99].map((v) => decimal(v)),
  ];
  return numbersTable(
    [
      [`${wholeNumber(sessions.count)} sessions, ms`, 'mean', 'p50', 'p95', 'p99'],
      row('first turn TTFT', sessions.ttft_cold_ms),
      row('later turns TTFT', sessions.ttft_warm_ms),
      row('duration', sessions.duration_ms),
    ],
    style,
  );
}

export function decisionLines(
  decisions: DecisionSummary | undefined,
  fitness: ResultDocument['fitness'],
  style: Style,
): string[] {
  const lines: string[] = [];
  if (decisions !== undefined) {
    const { total, admitted, rejected, mean_regret, max_regret } = decisions;
    const sent = Object.values(decisions.targets);
    lines.push(
      `Decisions   ${wholeNumber(total)} in all, ${wholeNumber(admitted)} admitted, ${wholeNumber(rejected)} rejected`,
      `regret      mean ${decimal(mean_regret, 6)}, max ${decimal(max_regret, 6)}`,
      `targets     ${counted(sent.length, 'instance')} got ${Math.min(...sent)} to ${Math.max(...sent)} requests each`,
    );
  }
  if (fitness !== undefined) {
    const terms = Object.entries(fitness.terms).map(([name, value]) => `${name} ${decimal(value, 6)}`);
    lines.push(`Fitness     ${decimal(fitness.score, 6)} (${terms.join(', ')})`);
  }
  return lines.flatMap((line, i) => {
    const [first, ...rest] = style.prose(line, 12);
    return [i === 0 ? style.heading(first!) : first!, ...rest];
  });
}

/** Only counts above 0. */
export function anomalyLines(anomalies: ResultDocument['anomalies'], cluster: ClusterMetrics, style: Style): string[] {
  const counts: [string, number][] = [
    ['priority inversions', anomalies.priority_inversions],
    ['instances with head-of-line blocking', anomalies.hol_blocking_events],
    ['failed KV allocations', cluster.kv_allocation_failures],
    ...Object.entries(anomalies.rejections).map(([reason, n]): [string, number] => [`rejected: ${reason}`, n]),
    ...Object.entries(anomalies.shed).map(([name, n]): [string, number] => [`shed: ${name}`, n]),
  ];
  const rows = counts.filter(([, n]) => n > 0).map(([name, n]) => [name, wholeNumber(n)]);
  return rows.length === 0 ? [] : numbersTable([['Anomalies', ''], ...rows], style);
}

/** A table whose first column holds names and the others numbers. */
function numbersTable(rows: readonly (readonly string[])[], style: Style): string[] {
  return style.table(rows, ['left', ...rows[0]!.slice(1).map(() => 'right' as const)]);
}
