import type { ReuseShare, Spread, TraceStats } from '../../workload/tools/stats/trace-stats-document.js';
import { counted, decimal, percent, wholeNumber } from '../text/format-number.js';
import { timeSpan } from '../text/time-span.js';

/** A table: the first row holds the column names, the first column the names of the rows. */
export type Section = readonly (readonly string[])[];

/** Names listed of each kind; the others are counted. */
const LISTED = 10;

/** A summary of the trace in one line. */
export function statsHeadline({ format, requests, duration_s }: TraceStats): string {
  return `${format}, ${counted(requests, 'request')} over ${timeSpan(duration_s)}`;
}

/** The statistics of a trace as tables. Empty ones are left out. */
export function statsSections(stats: TraceStats): Section[] {
  const sections = [
    rateSection(stats),
    lengthSection(stats),
    reuseSection(stats),
    blocksSection(stats),
    hotSection(stats),
    namesSection('SLO class', stats.slo_classes, stats.requests),
    namesSection('Tenant', stats.tenants, stats.requests),
    namesSection('Model', stats.models, stats.requests),
    namesSection('Client', stats.clients, stats.requests),
  ];
  return sections.filter((rows) => rows.length > 1);
}

function rateSection({ rate }: TraceStats): Section {
  const number = (value: number | null) => (value === null ? '-' : decimal(value));
  return [
    ['Arrivals', 'mean/s', 'most in 1 s', 'most in 1 min', 'CV of gaps'],
    [
      'requests',
      number(rate.mean_per_s),
      wholeNumber(rate.peak_per_second),
      wholeNumber(rate.peak_per_minute),
      number(rate.gap_cv),
    ],
  ];
}

function lengthSection({ input_tokens, output_tokens, chats }: TraceStats): Section {
  const row = (name: string, total: number, spread: Spread) => [
    name,
    wholeNumber(total),
    ...[spread.mean, spread.p50, spread.p90, spread.p99, spread.max].map((value) => decimal(value, 1)),
  ];
  return [
    ['Lengths', 'total', 'mean', 'p50', 'p90', 'p99', 'max'],
    row('input tokens', input_tokens.total, input_tokens),
    row('output tokens', output_tokens.total, output_tokens),
    ...(chats === undefined ? [] : [row(`turns of ${counted(chats.count, 'session')}`, chats.requests, chats.turns)]),
  ];
}

function reuseSection({ prefix_reuse: reuse }: TraceStats): Section {
  const row = (name: string, { reused_tokens, share }: ReuseShare) => [
    name,
    wholeNumber(reused_tokens),
    percent(share),
  ];
  const lru = reuse.lru_cache;
  if (reuse.known_by.length === 0) {
    return [['Reusable prefixes'], ['not known: the trace does not record which prompts share a beginning']];
  }
  return [
    [`Reusable prefixes, blocks of ${counted(reuse.block_size, 'token')}`, 'tokens', 'of all input'],
    row('endless cache', reuse.infinite_cache),
    ...(lru === undefined ? [] : [row(`cache of ${counted(lru.blocks, 'block')} (LRU)`, lru)]),
  ];
}

function blocksSection({ recorded_blocks: blocks }: TraceStats): Section {
  if (blocks === undefined) return [];
  const { tokens, count, distinct, seen_before_share } = blocks;
  return [
    ['Recorded blocks', 'in prompts', 'different', 'seen before'],
    [`of ${counted(tokens, 'token')}`, wholeNumber(count), wholeNumber(distinct), percent(seen_before_share)],
  ];
}

function hotSection({ input_tokens, prefix_reuse }: TraceStats): Section {
  const rows = prefix_reuse.hot_prefixes.map(({ tokens, uses, reused_tokens, first_request }) => [
    first_request,
    wholeNumber(tokens),
    wholeNumber(uses),
    wholeNumber(reused_tokens),
    percent(reused_tokens / input_tokens.total),
  ]);
  return [['Hot prefix, first seen in', 'tokens', 'uses', 'tokens reused', 'of all input'], ...rows];
}

function namesSection(title: string, counts: Record<string, number> | undefined, requests: number): Section {
  const entries = Object.entries(counts ?? {});
  const listed = entries.length > LISTED ? entries.slice(0, LISTED - 1) : entries;
  const rest = entries.slice(listed.length);
  if (rest.length > 0)
    listed.push([`${wholeNumber(rest.length)} others`, rest.reduce((sum, [, count]) => sum + count, 0)]);
  return [
    [title, 'requests', 'share'],
    ...listed.map(([name, count]) => [name, wholeNumber(count), percent(count / requests)]),
  ];
}
