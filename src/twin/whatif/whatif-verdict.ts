import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { WHAT_IF_TITLES, type WhatIfMetric } from './recorded-metrics.js';
import type { WhatIfPrediction } from './whatif-document.js';
import type { AskedFleet } from './whatif-question.js';

/** What the sentence is about; the table has the others. */
const NAMED: readonly WhatIfMetric[] = ['ttft_mean_ms', 'ttft_p90_ms', 'e2e_mean_ms', 'cached_share'];

export function alternativeName({ gpu, replicas, routing }: AskedFleet, config: ClusterConfig): string {
  const { instances, replica } = config;
  const fleet = replicas === undefined ? '' : ` on ${instances} replica${instances === 1 ? '' : 's'}`;
  return `${routing.policy}${fleet}${gpu === undefined ? '' : ` (${replica.hardware})`}`;
}

/** What changes for certain, or that nothing can be claimed, and why. @param rejected share of requests that it refuses */
export function alternativeVerdict(
  name: string,
  metrics: readonly WhatIfPrediction[],
  refused: string | null,
  rejected: number,
): string {
  const sentence = changesText(name, metrics, refused);
  if (refused !== null || rejected === 0) return sentence;
  const share = rejected < 0.001 ? 'less than 0.1' : (100 * rejected).toFixed(1);
  return `${sentence} It would have refused ${share} % of requests; latencies are of the others.`;
}

function changesText(name: string, metrics: readonly WhatIfPrediction[], refused: string | null): string {
  if (refused !== null) return `No difference can be claimed for ${name}: ${refused}.`;
  const named = metrics.filter(({ metric }) => NAMED.includes(metric));
  const claimed = named.filter(({ claim }) => claim !== 'none');
  if (claimed.length === 0) {
    const [first] = named;
    return `No difference can be claimed for ${name}: ${first === undefined ? 'nothing was measured' : inside(first)}.`;
  }
  const rest = named.filter(({ claim }) => claim === 'none').map(({ metric }) => titleOf(metric));
  const open = rest.length === 0 ? '' : `; no difference can be claimed for ${rest.join(', ')}`;
  return `${name} would have given ${claimed.map(claimText).join(', ')}${open}.`;
}

function claimText({ change, changeHigh, changeLow, metric, predicted, was }: WhatIfPrediction): string {
  const range = `${whatIfChange(metric, changeLow)} and ${whatIfChange(metric, changeHigh)}`;
  return `${titleOf(metric)} ${whatIfValue(metric, predicted)} instead of ${whatIfValue(metric, was)} (${whatIfChange(metric, change)}, between ${range})`;
}

function inside({ change, changeHigh, changeLow, metric }: WhatIfPrediction): string {
  const range = `${whatIfChange(metric, changeLow)} to ${whatIfChange(metric, changeHigh)}`;
  return `${titleOf(metric)} would change by ${whatIfChange(metric, change)}, and anything from ${range} is as likely`;
}

function titleOf(metric: WhatIfMetric): string {
  return WHAT_IF_TITLES[metric].replace(/, (ms|%)$/, '');
}

/** `39.7 ms`, `85.7 %`. */
export function whatIfValue(metric: WhatIfMetric, value: number): string {
  if (metric === 'cached_share') return `${(100 * value).toFixed(1)} %`;
  return `${value >= 1000 ? Math.round(value).toLocaleString('en') : Number(value.toPrecision(3))} ms`;
}

/** `-30.7 %`, `+9.6 points`. */
export function whatIfChange(metric: WhatIfMetric, change: number): string {
  const shown = `${change > 0 ? '+' : ''}${(100 * change).toFixed(1)}`;
  return metric === 'cached_share' ? `${shown} points` : `${shown} %`;
}
