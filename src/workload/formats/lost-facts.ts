import type { Trace } from '../trace.js';

/** What a trace says that files of JSON lines have no place for, in words. Bailian knows clients and chats, Mooncake neither. */
export function lostFacts(format: 'mooncake' | 'bailian', { header, table, thinkTimeUs }: Trace): string[] {
  const { clients, count, deadlineUs, kinds, models, sessions, sloClasses, sloTargetUs, tenants } = table;
  const isSet = (column: Float64Array) => column.subarray(0, count).some((us) => us > 0);
  const isMooncake = format === 'mooncake';
  const facts: [string, boolean][] = [
    ['clients', isMooncake && clients.size > 1],
    ['tenants', tenants.size > 1],
    ['SLO classes', sloClasses.size > 1],
    ['models', models.size > 1],
    ['which requests belong to a chat', isMooncake && sessions.size > 1],
    ['think times', thinkTimeUs !== null && isSet(thinkTimeUs)],
    ['deadlines', isSet(deadlineUs)],
    ['SLO targets', isSet(sloTargetUs) || Object.keys(header.goodputTargets).length > 0],
    ['kinds of tokens', kinds !== null],
  ];
  return facts.filter(([, isThere]) => isThere).map(([name]) => name);
}
