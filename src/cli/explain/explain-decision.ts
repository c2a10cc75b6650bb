import type { DecisionRecord, RecordedReplica } from '../../gateway/decisions/decision-ring.js';
import type { RequestExplanation } from '../../gateway/decisions/find-explanation.js';
import { counted } from '../../report/text/format-number.js';
import { createStyle, type TextOptions } from '../../report/text/style.js';
import { explainRefusal } from './explain-refusal.js';

/** Explains a request as text: the decision, why it was refused, or both. */
export function explainRequest(found: RequestExplanation, options: TextOptions = { colour: false }): string {
  const decided = 'replicas' in found ? explainDecision(found, options) : '';
  if (found.refused === undefined) return decided;
  return `${decided}${decided === '' ? '' : '\n'}${explainRefusal(found.refused)}`;
}

/** Explains a decision as text: one line per replica, then the rule and what would have changed the choice. */
export function explainDecision(record: DecisionRecord, options: TextOptions = { colour: false }): string {
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
    record.replica === null ? 'no replica could take it' : `${record.replica}: ${record.rule}${tie(record)}`,
    ...flips(record),
    '',
  ].join('\n');
}

const ASSUMED = '? not reported by the replica, or stale: assumed from the other replicas';

function signal({ missing }: RecordedReplica, name: string, value: string): string {
  return missing.includes(name) ? `${value}?` : value;
}

function tie({ tied }: DecisionRecord): string {
  return tied > 1 ? `; ${tied} were equally good, and one was drawn` : '';
}

/** A replica that the policy gave a score. */
type Candidate = RecordedReplica & { score: number };

/** What the runner-up lacked. */
function flips(record: DecisionRecord): string[] {
  const candidates = record.replicas.filter((replica): replica is Candidate => replica.score !== null);
  const chosen = candidates.find(({ id }) => id === record.replica);
  if (record.replica === null) return [];
  if (chosen === undefined) return ['this policy does not compare replicas: only another turn, draw or key flips it'];
  const others = candidates.filter(({ id }) => id !== chosen.id);
  const second = others.reduce<Candidate | null>(
    (best, one) => (best === null || one.score > best.score ? one : best),
    null,
  );
  if (second === null) return ['nothing would have flipped it: no other replica was a candidate'];
  const gap = chosen.score - second.score;
  if (gap <= 0) return [`another draw would have flipped it to ${second.id}`];
  const decisive = Object.keys(chosen.terms)
    .map((name): [string, number] => [name, (chosen.terms[name] ?? 0) - (second.terms[name] ?? 0)])
    .filter(([, difference]) => difference >= gap)
    .sort((a, b) => b[1] - a[1])
    .map(([name]) => name);
  const how = decisive.length > 0 ? `; equal in ${decisive.join(' or ')} alone, it would have won` : '';
  return [`${second.id} came second, ${number(gap)} behind${how}`];
}

function number(value: number | null): string {
  if (value === null) return '-';
  return Number.isInteger(value) ? String(value) : value.toFixed(3);
}

function age({ ageUs, missing }: RecordedReplica): string {
  if (ageUs === null) return 'never';
  return `${(ageUs / 1000).toFixed(0)} ms${missing.length === 3 ? ', stale' : ''}`;
}
