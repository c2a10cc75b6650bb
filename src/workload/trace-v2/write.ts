import { arrivalOrder } from '../arrival-order.js';
import { type RequestTable, ROW_STREAMING } from '../request-table.js';
import type { TraceGoodputTarget } from '../trace.js';
import { fixedColumns } from './layout.js';

/** What became of each request, by row of the table. NaN: never happened. */
export interface TraceOutcomes {
  ttftUs: ArrayLike<number>;
  /** Sum of the gaps between tokens so far. */
  itlSumUs: ArrayLike<number>;
  status(row: number): 'ok' | 'timeout' | 'incomplete';
}

/** What the header of a written trace says besides its format. */
export interface TraceFacts {
  mode: 'generated' | 'replayed';
  workloadSeed?: number;
  /** Where the workload came from: a file, or `preset:<name>`. */
  workloadSpec?: string;
  goodputTargets?: Record<string, TraceGoodputTarget>;
  /** The pause that users made before every turn but their first, in whole microseconds; a column of the data. */
  thinkTimeUs?: number;
}

const CHUNK_CHARACTERS = 64 * 1024;

/** The YAML text of a trace's header. */
export function writeTraceHeader(facts: TraceFacts): string {
  const lines = ['trace_version: 3', 'time_unit: microseconds', `mode: ${facts.mode}`, 'warm_up_requests: 0'];
  if (facts.workloadSeed !== undefined) lines.push(`workload_seed: ${facts.workloadSeed}`);
  if (facts.workloadSpec !== undefined) lines.push(`workload_spec: ${JSON.stringify(facts.workloadSpec)}`);
  const targets = Object.entries(facts.goodputTargets ?? {});
  if (targets.length > 0) lines.push('goodput_slo_targets:');
  for (const [sloClass, target] of targets) {
    const limits = Object.entries({ ttft_ms: target.ttftUs, itl_ms: target.itlUs, e2e_ms: target.e2eUs })
      .filter(([, us]) => us !== undefined)
      .map(([key, us]) => `${key}: ${us! / 1000}`);
    lines.push(`  ${JSON.stringify(sloClass)}: { ${limits.join(', ')} }`);
  }
  return `${lines.join('\n')}\n`;
}

/**
 * The CSV text of a trace, in pieces: the requests in order of arrival, numbered anew. What is written reads back as the same
 * requests; a growing chat's turns are written with the length their prompts had.
 */
export function* writeTraceData(
  table: RequestTable,
  outcomes: TraceOutcomes,
  { thinkTimeUs = 0 }: Pick<TraceFacts, 'thinkTimeUs'> = {},
): Generator<string, void, undefined> {
  const hasSloTarget = table.sloTargetUs.subarray(0, table.count).some((us) => us > 0);
  const clients = table.clients.names().map(quoted);
  const tenants = table.tenants.names().map(quoted);
  const sloClasses = table.sloClasses.names().map(quoted);
  const sessions = table.sessions.names().map(quoted);
  const groups = table.prefixGroups.names().map(quoted);
  const models = table.models.names().map(quoted);
  let text = `${fixedColumns(false, hasSloTarget).join(',')}${thinkTimeUs > 0 ? ',think_time_us' : ''}\n`;
  let id = 0;
  for (const row of arrivalOrder(table)) {
    const arrival = table.arrivalUs[row]!;
    const group = table.prefixGroup[row]!;
    const prefix = table.prefixTokens[group]!;
    // Past due on arrival either way, but a deadline before the arrival would not read back.
    const deadline = table.deadlineUs[row]! > 0 ? Math.max(arrival, table.deadlineUs[row]!) : 0;
    const ttft = outcomes.ttftUs[row]!;
    const first = Number.isNaN(ttft) ? 0 : arrival + ttft;
    const last = Number.isNaN(ttft) ? 0 : first + (outcomes.itlSumUs[row]! || 0);
    const streaming = (table.flags[row]! & ROW_STREAMING) !== 0;
    text += `${id++},${clients[table.client[row]!]},${tenants[table.tenant[row]!]},${sloClasses[table.sloClass[row]!]},`;
    text += `${sessions[table.session[row]!]},${table.round[row]},${groups[group]},${prefix},${streaming},`;
    text += `${table.inputTokens[row]! - prefix},${table.outputTokens[row]},0,0,0,0,0,${models[table.model[row]!]},`;
    text += `${deadline},${hasSloTarget ? `${table.sloTargetUs[row]},` : ''}0,`;
    text += `${arrival},${arrival},${first},${last},0,${outcomes.status(row)},,`;
    if (thinkTimeUs > 0) text += `,${table.round[row]! > 0 ? thinkTimeUs : 0}`;
    text += '\n';
    if (text.length >= CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
  }
  yield text;
}

function quoted(name: string): string {
  return /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}
