import type { DecisionRecord, RecordedReplica } from './decision-ring.js';

/** A decision in words and numbers, for people: one line per replica, then how it was decided and what would have changed it. */
export function explainDecision(record: DecisionRecord): string {
  const { replicas } = record;
  const terms = Object.keys(replicas[0]?.terms ?? {});
  const header = ['replica', 'queued', 'running', 'kv', 'in flight', 'prefix', 'age', ...terms, 'score', ''];
  const rows = replicas.map((replica) => [
    replica.id === record.replica ? `> ${replica.id}` : `  ${replica.id}`,
    String(replica.queued),
    String(replica.running),
    `${(replica.kvUsed * 100).toFixed(0)} %`,
    String(replica.inFlight),
    `${replica.routedBlocks}/${record.blockCount}`,
    age(replica.ageUs),
    ...terms.map((name) => number(replica.terms[name]!)),
    number(replica.score),
    replica.removed ?? '',
  ]);
  const width = header.map((_, column) => Math.max(...[header, ...rows].map((row) => row[column]!.length)));
  const table = [header, ...rows].map((row) =>
    row
      .map((cell, i) => (i === 0 || i === row.length - 1 ? cell.padEnd(width[i]!) : cell.padStart(width[i]!)))
      .join('  ')
      .trimEnd(),
  );
  const session = record.session === '' ? '' : `, chat ${record.session}`;
  return [
    `request ${record.id}: ${record.inputTokens} tokens, ${record.blockCount} blocks of ${record.blockSize}${session}`,
    `endpoint ${record.endpoint}, policy ${record.policy}, try ${record.attempt + 1}, ${(record.atUs / 1e6).toFixed(3)} s after the start`,
    '',
    ...table,
    '',
    record.replica === null ? 'no replica could take it' : `${record.replica}: ${record.rule}${tie(record)}`,
    ...flips(record),
    '',
  ].join('\n');
}

function tie({ tied }: DecisionRecord): string {
  return tied > 1 ? `; ${tied} were equally good, and a draw decided` : '';
}

/** What the runner-up lacked. */
function flips(record: DecisionRecord): string[] {
  const chosen = record.replicas.find(({ id }) => id === record.replica);
  if (chosen === undefined || Number.isNaN(chosen.score)) return [];
  const others = record.replicas.filter(({ id, score }) => id !== chosen.id && !Number.isNaN(score));
  const second = others.reduce<RecordedReplica | null>(
    (best, one) => (best === null || one.score > best.score ? one : best),
    null,
  );
  if (second === null) return ['nothing would have flipped it: no other replica was a candidate'];
  const gap = chosen.score - second.score;
  if (gap <= 0) return [`another draw would have flipped it to ${second.id}`];
  const reasons = Object.keys(chosen.terms)
    .map((name): [string, number] => [name, chosen.terms[name]! - second.terms[name]!])
    .filter(([, difference]) => difference > 0)
    .sort((a, b) => b[1] - a[1]);
  const decisive = reasons.filter(([, difference]) => difference >= gap).map(([name]) => name);
  const how = decisive.length > 0 ? `; equal in ${decisive.join(' or ')} alone, it would have won` : '';
  return [`${second.id} came second, ${number(gap)} behind${how}`];
}

function number(value: number): string {
  if (Number.isNaN(value)) return '-';
  return Number.isInteger(value) ? String(value) : value.toFixed(3);
}

function age(us: number): string {
  return Number.isFinite(us) ? `${(us / 1000).toFixed(0)} ms` : 'never';
}
