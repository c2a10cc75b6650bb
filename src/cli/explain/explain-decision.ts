import type { DecisionRecord, RecordedReplica } from '../../gateway/decisions/decision-ring.js';
import type { RequestExplanation } from '../../gateway/decisions/find-explanation.js';
import { counted } from '../../report/text/format-number.js';
import { createStyle, type TextOptions } from '../../report/text/style.js';
import { explainRefusal } from './explain-refusal.js';
import { explainShadows } from './explain-shadows.js';
import { flipText } from './flip-text.js';

/** Explains a request as text: the decision, why it was refused, or both. */
export function explainRequest(found: RequestExplanation, options: TextOptions = { colour: false }): string {
  const decided = 'replicas' in found ? explainDecision(found, options) : '';
  if (found.refused === undefined) return decided;
  return `${decided}${decided === '' ? '' : '\n'}${explainRefusal(found.refused)}`;
}

/** A decision with what would have flipped it. */
type ExplainedDecision = Extract<RequestExplanation, DecisionRecord>;

/** Explains a decision as text: one line per replica, then the rule and what would have changed the choice. */
export function explainDecision(record: ExplainedDecision, options: TextOptions = { colour: false }): string {
  const { replicas } = record;
  const terms = Object.keys(replicas[0]?.terms ?? {});
  const header = ['replica', 'queued', 'running', 'kv', 'in flight', 'prefix', 'age', ...terms, 'score', ''];
  const rows = replicas.map((replica) => [
    replica.id === record.replica ? `> ${replica.id}` : `  ${replica.id}`,
    signal(replica, 'queued', number(replica.queued)),
    signal(replica, 'running', number(replica.running)),
    signal(replica, 'kvUsed', `${((replica.kvUsed ?? 0) * 100).toFixed(0)} %`),
    number(replica.inFlight),
    `${replica.routedBlocks}/${record.blockCount}`,
    age(replica),
    ...terms.map((name) => number(replica.terms[name] ?? null)),
    number(replica.score),
    replica.removed ?? '',
  ]);
  const style = createStyle(options);
  const alignments = header.map((_, i) =>
    i === 0 || i === header.length - 1 ? ('left' as const) : ('right' as const),
  );
  const session = record.session === '' ? '' : `, session ${record.session}`;
  return [
    `request ${record.id}: ${record.inputTokens} tokens, ${counted(record.blockCount, 'block')} of ${record.blockSize}${session}`,
    `endpoint ${record.endpoint}, policy ${record.policy} (${record.policyHash}), try ${record.attempt + 1}, ${(record.atUs / 1e6).toFixed(3)} s after the start`,
    '',
    ...style.table([header, ...rows], alignments),
    ...(replicas.some(({ missing }) => missing.length > 0) ? [ASSUMED] : []),
    '',
    outcome(record),
    ...flips(record),
    ...explainShadows(record, style),
    '',
  ].join('\n');
}

/** Without a candidate there is no rule that decided. */
const hasCandidate = ({ replicas }: DecisionRecord) => replicas.some(({ removed }) => removed === null);

function outcome(record: ExplainedDecision): string {
  if (record.replica !== null) return `${record.replica}: ${record.rule}${tie(record)}`;
  return hasCandidate(record) ? `refused: ${record.rule}` : 'no replica could take it';
}

const ASSUMED = '? not reported by the replica, or stale: assumed from the other replicas';

function signal({ missing }: RecordedReplica, name: string, value: string): string {
  return missing.includes(name) ? `${value}?` : value;
}

function tie({ tied }: DecisionRecord): string {
  return tied > 1 ? `; ${tied} were equally good, and one was drawn` : '';
}

/** The runner-up by score, and what would have flipped the choice. */
function flips(record: ExplainedDecision): string[] {
  if (record.replica === null && !hasCandidate(record)) return [];
  const second = runnerUp(record);
  const text = flipText(record.flip, record.policy, record.flipNotKept);
  return [...(second === null ? [] : [second]), `what would have flipped it: ${text}`];
}

function runnerUp({ replica, replicas }: ExplainedDecision): string | null {
  const best = replicas.find(({ id }) => id === replica)?.score ?? null;
  if (best === null) return null;
  let second: RecordedReplica | null = null;
  for (const one of replicas) {
    if (one.id !== replica && one.score !== null && one.score > (second?.score ?? Number.NEGATIVE_INFINITY))
      second = one;
  }
  if (second === null || second.score! >= best) return null;
  return `${second.id} came second, ${number(best - second.score!)} behind`;
}

function number(value: number | null): string {
  if (value === null) return '-';
  return Number.isInteger(value) ? String(value) : value.toFixed(3);
}

function age({ ageUs, missing }: RecordedReplica): string {
  if (ageUs === null) return 'never';
  return `${(ageUs / 1000).toFixed(0)} ms${missing.length === 3 ? ', stale' : ''}`;
}
