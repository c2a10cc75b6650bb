import type {
  ClientMetrics,
  ClusterMetrics,
  InstanceMetrics,
  LatencyInterval,
  ResultDocument,
  ServingMetrics,
} from '../../simulator/result-document.js';
import { bar } from '../text/bar.js';
import { fleetText } from '../text/fleet-text.js';
import { counted, decimal, percent, wholeNumber } from '../text/format-number.js';
import { stepTimesText } from '../text/step-times-text.js';
import { createStyle, labelledText, type Style, type TextOptions } from '../text/style.js';
import { textTable } from '../text/text-table.js';
import {
  anomalyLines,
  classLines,
  decisionLines,
  goodputLines,
  modelLines,
  sessionLines,
  tenantLines,
} from './result-sections.js';

const BAR_WIDTH = 20;
const LEAST_BAR = 6;

/** Outcomes of requests besides completion, in the order they can happen. */
const FATES: readonly [Exclude<keyof ClusterMetrics, keyof ClientMetrics>, string][] = [
  ['not_arrived', 'not arrived'],
  ['in_pipeline', 'in the pipeline'],
  ['rejected_requests', 'rejected'],
  ['routing_rejected', 'rejected by routing'],
  ['gateway_queued', 'in the gateway queue'],
  ['gateway_rejected', 'rejected by the gateway queue'],
  ['gateway_shed', 'shed by the gateway queue'],
  ['gateway_expired', 'expired in the gateway queue'],
  ['gateway_evicted', 'evicted'],
  ['still_queued', 'still queued'],
  ['still_running', 'still running'],
  ['dropped_unservable', 'dropped as unservable'],
  ['timed_out_requests', 'timed out'],
];

/** The result as aligned text instead of a JSON document. */
export function resultTable(document: ResultDocument, options: TextOptions): string {
  const style = createStyle(options);
  const sections = [
    headline(document, style),
    latencyLines(document.cluster, style),
    instanceLines(document.instances, style),
    classLines(document.slo, style),
    modelLines(document.models, style),
    goodputLines(document.goodput, style),
    tenantLines(document.fairness, style),
    sessionLines(document.sessions, style),
    decisionLines(document.decisions, document.fitness, style),
    anomalyLines(document.anomalies, document.cluster, style),
  ];
  const text = sections.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
  return `${text.join('\n\n')}\n`;
}

function headline({ cluster, config, latency, saturation }: ResultDocument, style: Style): string[] {
  const queue = config.flowControl === null ? '' : `, gateway queue by ${config.flowControl.dispatchOrder}`;
  const labelled = (label: string, text: string) => labelledText(style, label, text);
  const fates = FATES.filter(([key]) => cluster[key] > 0).map(([key, name]) => `${wholeNumber(cluster[key])} ${name}`);
  const capped =
    cluster.length_capped_requests > 0 ? ` (${wholeNumber(cluster.length_capped_requests)} cut short)` : '';
  const speed = `${decimal(cluster.responses_per_sec)} requests/s, ${decimal(cluster.tokens_per_sec, 1)} output tokens/s`;
  return [
    style.heading(fleetText(config)),
    style.faint(`routing ${config.routing.policy}, admission ${config.admission.policy}${queue}, seed ${config.seed}`),
    '',
    ...labelled(
      'Requests',
      [
        `${wholeNumber(cluster.generated_requests)} generated`,
        `${wholeNumber(cluster.completed_requests)} completed${capped}`,
        ...fates,
      ].join(', '),
    ),
    ...(saturation.state === 'no-rate' ? [] : labelled('Load', saturation.verdict)),
    ...labelled('Throughput', `${speed} over ${decimal(cluster.duration_s)} s`),
    ...labelled(
      'Tokens',
      `${wholeNumber(cluster.total_input_tokens)} in, ${wholeNumber(cluster.total_output_tokens)} out`,
    ),
    ...labelled(
      'KV cache',
      `${percent(cluster.prompt_cache_hit_rate)} of prompt tokens found, ${counted(cluster.preemption_count, 'preemption')}`,
    ),
    ...labelled('Step times', stepTimesText(latency)),
    ...(latency.interval === undefined ? [] : labelled('Interval', intervalText(latency.interval))),
  ];
}

/** What the means are at both ends of the step times. */
function intervalText({ why, ttft_mean_ms, itl_mean_ms, e2e_mean_ms }: LatencyInterval): string {
  const between = ([low, high]: [number, number]) => `${decimal(low)} to ${decimal(high)}`;
  const means = `first token ${between(ttft_mean_ms)}, between tokens ${between(itl_mean_ms)}, whole request ${between(e2e_mean_ms)}`;
  return `mean ms ${means} (${why})`;
}

type Quantile = 'mean' | 'p50' | 'p90' | 'p95' | 'p99' | 'max';

function latencyLines(cluster: ClusterMetrics, style: Style): string[] {
  const quantiles: readonly Quantile[] = ['mean', 'p50', 'p90', 'p95', 'p99', 'max'];
  const row = (title: string, name: 'ttft' | 'itl' | 'e2e') => [
    title,
    ...quantiles.map((quantile) => latency(cluster, `${name}_${quantile}_ms`)),
  ];
  const rows = [
    ['Latency, ms', ...quantiles],
    row('first token', 'ttft'),
    row('between tokens', 'itl'),
    row('whole request', 'e2e'),
    ...clientRows(cluster, quantiles),
  ];
  return style.table(rows, ['left', ...quantiles.map(() => 'right' as const)]);
}

/** The same including the network, where clients have one. */
function clientRows(cluster: ClusterMetrics, quantiles: readonly Quantile[]): string[][] {
  if (cluster.client_ttft_mean_ms === undefined) return [];
  const row = (title: string, name: 'client_ttft' | 'client_e2e') => [
    title,
    ...quantiles.map((quantile) => decimal(cluster[`${name}_${quantile}_ms`]!)),
  ];
  return [row('first token at the client', 'client_ttft'), row('whole request at the client', 'client_e2e')];
}

/** A latency of 0 where nothing completed was never measured. */
function latency(metrics: ServingMetrics, name: `${'ttft' | 'itl' | 'e2e'}_${Quantile}_ms`): string {
  return metrics.completed_requests === 0 && metrics[name] === 0 ? '-' : decimal(metrics[name]);
}

function instanceLines(instances: readonly InstanceMetrics[], style: Style): string[] {
  const total = instances.reduce((sum, { injected_requests }) => sum + injected_requests, 0);
  const shareOf = ({ injected_requests }: InstanceMetrics) => (total === 0 ? 0 : injected_requests / total);
  const table = (barWidth: number) => [
    ['Instance', 'requests', 'share', '', 'TTFT p99', 'E2E p99', 'tokens/s', 'cached', 'preempted'],
    ...instances.map((instance) => [
      instance.instance_id,
      wholeNumber(instance.injected_requests),
      percent(shareOf(instance)),
      { text: bar(shareOf(instance), barWidth).trimEnd(), paint: style.bar },
      latency(instance, 'ttft_p99_ms'),
      latency(instance, 'e2e_p99_ms'),
      decimal(instance.tokens_per_sec, 1),
      percent(instance.prompt_cache_hit_rate),
      wholeNumber(instance.preemption_count),
    ]),
  ];
  const right = ['right', 'right', 'right', 'right', 'right'] as const;
  // The bar gets the space that the numbers leave, or is left out.
  const numbers = Math.max(
    ...textTable(table(0), ['left', 'right', 'right', 'left', ...right]).map(({ length }) => length),
  );
  const barWidth = Math.min(BAR_WIDTH, style.width - numbers);
  if (barWidth >= LEAST_BAR) return style.table(table(barWidth), ['left', 'right', 'right', 'left', ...right]);
  const bare = table(0).map((row) => row.filter((_, column) => column !== 3));
  return style.table(bare, ['left', 'right', 'right', ...right]);
}
