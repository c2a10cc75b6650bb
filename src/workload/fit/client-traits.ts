import { percentile } from '../../kernel/percentile.js';
import { type RequestTable, ROW_STREAMING } from '../request-table.js';
import { OLD_CLASSES } from '../spec/rules/class-rules.js';
import type { ClientSpec } from '../spec/workload-spec.js';
import type { Trace } from '../trace.js';
import type { FoundSessions } from './find-sessions.js';
import type { SessionGroup } from './session-groups.js';

/** Whose requests these are. */
export function labelsOf(table: RequestTable, { isMixed, row }: SessionGroup): Partial<ClientSpec> {
  const tenant = isMixed ? '' : table.tenants.name(table.tenant[row]!);
  const model = table.models.name(table.model[row]!);
  const sloClass = table.sloClasses.name(table.sloClass[row]!);
  return {
    ...(tenant === '' ? {} : { tenant_id: tenant }),
    // All clients name a class, or none does.
    ...(table.sloClasses.size > 1 ? { slo_class: presentName(sloClass) } : {}),
    ...(model === '' ? {} : { model }),
  };
}

/** Classes have other names than in version 1; a request without one is standard. */
function presentName(sloClass: string): string {
  if (sloClass === '') return 'standard';
  return Object.hasOwn(OLD_CLASSES, sloClass) ? OLD_CLASSES[sloClass]! : sloClass;
}

/** What the client requests besides tokens, by its median request. */
export function wishesOf(
  trace: Trace,
  table: RequestTable,
  chats: FoundSessions,
  group: SessionGroup,
): Partial<ClientSpec> {
  const timeouts: number[] = [];
  const targets: number[] = [];
  let streaming = 0;
  for (const chat of group.chats) {
    const row = chats.rows[chats.begin[chat]!]!;
    const deadlineUs = table.deadlineUs[row]!;
    if (deadlineUs > 0) timeouts.push(deadlineUs - (trace.header.mode === 'real' ? 0 : table.arrivalUs[row]!));
    if (table.sloTargetUs[row]! > 0) targets.push(table.sloTargetUs[row]!);
    if ((table.flags[row]! & ROW_STREAMING) !== 0) streaming++;
  }
  const network = group.isMixed ? undefined : table.networks[table.client[group.row]!];
  const half = group.chats.length / 2;
  return {
    ...(streaming > half ? { streaming: true } : {}),
    ...(network === undefined ? {} : { network: networkSpec(network.rttUs, network.bandwidthMbps) }),
    ...(timeouts.length > half ? { timeout: median(timeouts) } : {}),
    ...(targets.length > half ? { slo_target_us: median(targets) } : {}),
  };
}

function networkSpec(rttUs: number, bandwidthMbps: number): NonNullable<ClientSpec['network']> {
  return { rtt_ms: rttUs / 1000, ...(bandwidthMbps > 0 ? { bandwidth_mbps: bandwidthMbps } : {}) };
}

function median(values: number[]): number {
  return Math.max(
    1,
    Math.round(
      percentile(
        values.sort((a, b) => a - b),
        50,
      ),
    ),
  );
}
