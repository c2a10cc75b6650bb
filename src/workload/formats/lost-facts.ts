import type { Trace } from '../trace.js';

/** What a trace holds that JSON lines have no field for. Bailian has clients and sessions, Mooncake neither. */
export function lostFacts(format: 'mooncake' | 'bailian', { header, table, thinkTimeUs }: Trace): string[] {
  const { clients, count, deadlineUs, kinds, models, sessions, sloClasses, sloTargetUs, tenants } = table;
  const isSet = (column: Float64Array) => column.subarray(0, count).some((us) => us > 0);
  const isMooncake = format === 'mooncake';
  const facts: [string, boolean][] = [
    ['clients', isMooncake && clients.size > 1],
    ['tenants', tenants.size > 1],
    ['SLO classes', sloClasses.size > 1],
    ['models', models.size > 1],
    ['which requests belong to a session', isMooncake && sessions.size > 1],
    ['think times', thinkTimeUs !== null && isSet(thinkTimeUs)],
    ['deadlines', isSet(deadlineUs)],
    ['SLO targets', isSet(sloTargetUs) || Object.keys(header.goodputTargets).length > 0],
    ['kinds of tokens', kinds !== null],
  ];
  return facts.filter(([, isThere]) => isThere).map(([name]) => name);
}
