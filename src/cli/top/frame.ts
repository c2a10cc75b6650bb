import type { EndpointAdvice } from '../../control/resources/kinds/endpoint.js';
import { counted, decimal, wholeNumber } from '../../report/text/format-number.js';
import { createStyle, type Style } from '../../report/text/style.js';
import { type Alignment, type Cell, printable } from '../../report/text/text-table.js';
import { timeSpan } from '../../report/text/time-span.js';
import type { WhatIfMetric } from '../../twin/whatif/recorded-metrics.js';
import { whatIfChange } from '../../twin/whatif/whatif-verdict.js';
import { ageText } from '../control/print/time-text.js';
import { type Rates, ratesBetween, replicaRates } from './rates.js';
import { labelOf, type Reading, type TopEndpoint, type TopReplica } from './read-gateway.js';

export interface FrameOptions {
  readonly colour: boolean;
  readonly width: number;
  /** Lines that fit; replicas beyond them are counted. Unlimited without it. */
  readonly rows?: number;
  /** Why the gateway could not be read again; the figures are then the last ones. */
  readonly problem?: string | undefined;
}

/** Narrower than this, columns that can be left out are. */
const WIDE = 100;
/** All columns of replicas but their names. */
const REPLICA_COLUMNS = 67;
const ENDPOINT_COLUMNS = 58;
const LEAST_NAME = 12;
/** Lines about advice. */
const MOST_ADVISED = 3;

/** A screen of a gateway: totals, endpoints, replicas. @param before start of the rates; null for the gateway's start */
export function frameLines(before: Reading | null, now: Reading, options: FrameOptions): string[] {
  const style = createStyle(options);
  const all = ratesBetween(before, now, null);
  const head = [
    ...style.prose(printable(`${now.url}, ${spanText(before, now)}`)),
    ...(options.problem === undefined ? [] : style.prose(printable(options.problem)).map(style.worse)),
    '',
    ...style.prose(stateText(now)),
    ...style.prose(requestsText(all, before, now)),
    ...style.prose(tokensText(all)),
    '',
    ...endpointTable(before, now, style),
    ...shadowLines(now, style),
    ...adviceLines(now, style),
    '',
  ];
  const replicas = [...now.replicas].sort((a, b) => Number(isServing(a)) - Number(isServing(b)));
  const room = options.rows === undefined ? replicas.length : Math.max(1, options.rows - head.length - 2);
  const isCut = replicas.length > room;
  return [
    ...head,
    ...replicaTable(replicas.slice(0, room), before, now, style),
    ...(isCut ? [`${counted(replicas.length - room, 'more replica')}: --once prints all`] : []),
  ];
}

function spanText(before: Reading | null, now: Reading): string {
  if (before !== null) return `rates of the last ${wholeNumber((now.atMs - before.atMs) / 1000)} s`;
  const seconds = now.atMs / 1000 - now.metrics.sum('process_start_time_seconds');
  return `rates since it started, ${timeSpan(Math.max(0, seconds))}`;
}

function stateText({ endpoints, replicas }: Reading): string {
  const serving = replicas.filter(isServing).length;
  const inFlight = endpoints.reduce((sum, { in_flight }) => sum + in_flight, 0);
  const queued = endpoints.reduce((sum, endpoint) => sum + queuedIn(endpoint), 0);
  const fleet = `${counted(endpoints.length, 'endpoint')}, ${serving} of ${counted(replicas.length, 'replica')} ready`;
  return `${fleet}, ${wholeNumber(inFlight)} in flight, ${wholeNumber(queued)} queued`;
}

function requestsText({ errors, requests }: Rates, before: Reading | null, now: Reading): string {
  const refused = (at: Reading) => at.metrics.rows('twinyard_refused_total').reduce((sum, { value }) => sum + value, 0);
  const more = Math.max(0, refused(now) - (before === null ? 0 : refused(before)));
  return `${rate(requests)} requests/s, ${rate(errors)} errors/s, ${wholeNumber(more)} refused before they reached an endpoint`;
}

function tokensText({ cached, inputTokens, outputTokens }: Rates): string {
  const found = Number.isNaN(cached) ? '' : ` (${share(cached)} cached)`;
  return `${rate(inputTokens)} prompt tokens/s${found}, ${rate(outputTokens)} output tokens/s`;
}

function endpointTable(before: Reading | null, now: Reading, style: Style): string[] {
  const isWide = style.width >= WIDE;
  const titles = ['endpoint', 'req/s', 'err/s', 'TTFT p50', 'p99', 'out tok/s', 'in flight', 'queued'];
  const rows = now.endpoints.map((endpoint) => {
    const rates = ratesBetween(before, now, labelOf(endpoint));
    return [
      cut(labelOf(endpoint), style.width - ENDPOINT_COLUMNS),
      rate(rates.requests),
      rate(rates.errors),
      duration(rates.firstTokenP50),
      duration(rates.firstTokenP99),
      rate(rates.outputTokens),
      wholeNumber(endpoint.in_flight),
      wholeNumber(queuedIn(endpoint)),
      ...(isWide ? [endpoint.policy.routing?.policy ?? ''] : []),
    ];
  });
  if (rows.length === 0) return ["no endpoint yet: 'twinyard apply' creates one"];
  const alignments = titles.map((_, i): Alignment => (i === 0 ? 'left' : 'right'));
  return isWide
    ? style.table([[...titles, 'policy'], ...rows], [...alignments, 'left'])
    : style.table([titles, ...rows], alignments);
}

/** Which shadow policies agree how often with the policy that serves, for endpoints that have any. */
function shadowLines({ endpoints }: Reading, style: Style): string[] {
  return endpoints
    .filter(({ shadows }) => shadows.length > 0)
    .flatMap((endpoint) => {
      const all = endpoint.shadows.map(
        ({ name, on_real_placements: { agreement } }) => `${name} ${signal(agreement, share)}`,
      );
      return style.prose(printable(`shadows of ${labelOf(endpoint)} agree: ${all.join(', ')}`));
    });
}

/** What is advised about the policies in force, the latest first; advice that was followed is left out. */
function adviceLines({ atMs, endpoints }: Reading, style: Style): string[] {
  const advised = endpoints
    .flatMap((endpoint) => {
      const { advice, policy } = endpoint;
      if (advice === undefined || advice.present !== policy.routing?.policy) return [];
      return [{ at: advice.at, text: `advice for ${labelOf(endpoint)}: ${adviceText(advice, atMs)}` }];
    })
    .sort((a, b) => b.at.localeCompare(a.at));
  const lines = advised.slice(0, MOST_ADVISED).flatMap(({ text }) => style.prose(printable(text)));
  const left = advised.length - MOST_ADVISED;
  return left > 0 ? [...lines, `advice for ${counted(left, 'more endpoint')}: see 'twinyard describe'`] : lines;
}

function adviceText({ at, change, change_high, change_low, metric, policy, present }: EndpointAdvice, now: number) {
  const age = `${ageText(at, now)} ago`;
  if (policy === null || change === null || change_low === null || change_high === null)
    return `keep ${present}, ${age}`;
  const shown = (value: number) => whatIfChange(metric as WhatIfMetric, value);
  const range = `${shown(change_low)} to ${shown(change_high)}`;
  return `${policy} instead of ${present}, ${metric} ${shown(change)} (${range}), ${age}`;
}

function replicaTable(replicas: readonly TopReplica[], before: Reading | null, now: Reading, style: Style): string[] {
  if (replicas.length === 0) return ['no replicas'];
  const { endpoints, metrics } = now;
  const rates = replicaRates(before, now);
  const ages = new Map(
    metrics.rows('twinyard_replica_signals_age_seconds').map(({ labels, value }) => [labels.get('replica'), value]),
  );
  const titles = ['replica', 'state', 'req/s', 'in flight', 'running', 'waiting', 'KV', 'cached', 'age'];
  const rows = replicas.map((replica): Cell[] => {
    const { endpoint, id, in_flight, signals } = replica;
    const name = endpoints.length > 1 ? `${endpoint}/${id}` : id;
    const state = stateOf(replica);
    return [
      cut(name, style.width - REPLICA_COLUMNS),
      isServing(replica) ? state : { text: state, paint: style.worse },
      signal(rates.get(id), rate),
      wholeNumber(in_flight),
      signal(signals?.running, wholeNumber),
      signal(signals?.waiting, wholeNumber),
      signal(signals?.kvUsed, share),
      signal(signals?.cacheHitRate, share),
      signal(ages.get(id), duration),
    ];
  });
  const alignments = titles.map((_, i): Alignment => (i < 2 ? 'left' : 'right'));
  return style.table([titles, ...rows], alignments);
}

const isServing = ({ breaker, leaving, state, suspect }: TopReplica) =>
  state === 'ready' && breaker === 'closed' && suspect === '' && !leaving;

function stateOf({ breaker, leaving, state, suspect }: TopReplica): string {
  if (breaker === 'open') return 'breaker';
  if (leaving) return 'leaving';
  return state === 'ready' && suspect !== '' ? 'suspect' : state;
}

const queuedIn = ({ queued }: TopEndpoint) => Object.values(queued).reduce((sum, count) => sum + count, 0);

/** A dash for what is not known. */
function signal(value: number | null | undefined, text: (value: number) => string): string {
  return value === null || value === undefined || Number.isNaN(value) ? '-' : text(value);
}

const rate = (value: number) => signal(value, (known) => (known >= 100 ? wholeNumber(known) : decimal(known, 1)));
const share = (value: number) => `${wholeNumber(value * 100)} %`;
const duration = (seconds: number) =>
  signal(seconds, (known) => (known < 1 ? `${wholeNumber(known * 1000)} ms` : `${decimal(known, 1)} s`));

function cut(name: string, room: number): string {
  const characters = [...name];
  const most = Math.max(LEAST_NAME, room);
  return characters.length <= most ? name : `${characters.slice(0, most - 1).join('')}…`;
}
