import { arrivalOrder } from '../arrival-order.js';
import { type RequestTable, ROW_STREAMING, sourceIdOf } from '../request-table.js';
import type { Trace, TraceGoodputTarget, TraceHeader } from '../trace.js';
import { writeBlockList } from './block-list.js';
import { fixedColumns } from './layout.js';

/** What became of each request, by row of the table. NaN: never happened. */
export interface TraceOutcomes {
  ttftUs: ArrayLike<number>;
  /** Sum of the gaps between tokens so far. */
  itlSumUs: ArrayLike<number>;
  status(row: number): 'ok' | 'timeout' | 'incomplete' | '';
}

/** What the header of a written trace says besides its format. */
export interface TraceFacts {
  mode: TraceHeader['mode'];
  workloadSeed?: number;
  /** Where the workload came from: a file, or `preset:<name>`. */
  workloadSpec?: string;
  sessionContextGrowth?: string;
  /** Tokens of a recorded block, where the data says what prompts consist of. */
  blockTokens?: number | undefined;
  goodputTargets?: Record<string, TraceGoodputTarget>;
}

const CHUNK_CHARACTERS = 64 * 1024;

/** The YAML text of a trace's header. */
export function writeTraceHeader(facts: TraceFacts): string {
  const lines = ['trace_version: 3', 'time_unit: microseconds'];
  if (facts.mode !== '') lines.push(`mode: ${facts.mode}`);
  lines.push('warm_up_requests: 0');
  if (facts.workloadSeed !== undefined) lines.push(`workload_seed: ${facts.workloadSeed}`);
  if (facts.workloadSpec !== undefined) lines.push(`workload_spec: ${JSON.stringify(facts.workloadSpec)}`);
  if (facts.sessionContextGrowth) lines.push(`session_context_growth: ${word(facts.sessionContextGrowth)}`);
  if (facts.blockTokens !== undefined) lines.push(`block_tokens: ${facts.blockTokens}`);
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
 * The CSV text of what was simulated, in pieces: the requests in order of arrival, numbered anew. What is written reads back
 * as the same requests; a growing chat's turns are written with the length their prompts had.
 */
export function writeTraceData(table: RequestTable, outcomes: TraceOutcomes): Generator<string, void, undefined> {
  const hasPauses = table.pauseUs.subarray(0, table.count).some((us) => us > 0);
  return rows(table, {
    outcomes,
    wantedUs: table.arrivalUs,
    ...(hasPauses ? { thinkTimeUs: (row: number) => table.pauseUs[row]! } : {}),
    relativeDeadlines: false,
    renumber: true,
  });
}

/**
 * A trace as a TraceV2: the text of its header and that of its data, in pieces, in order of arrival. Reads back as the same
 * requests under the same ids; what was observed of their answers is not part of a trace that is read, so it is not written.
 */
export function writeTrace(trace: Trace): { header: string; data: Generator<string, void, undefined> } {
  const { header, table, thinkTimeUs, wantedUs } = trace;
  const data = rows(table, {
    outcomes: null,
    wantedUs,
    ...(thinkTimeUs === null ? {} : { thinkTimeUs: (row: number) => thinkTimeUs[row]! }),
    relativeDeadlines: header.mode === 'real',
    renumber: false,
  });
  return { header: writeTraceHeader({ ...header, blockTokens: table.blocks?.blockTokens }), data };
}

interface RowFacts {
  outcomes: TraceOutcomes | null;
  wantedUs: ArrayLike<number>;
  /** The pause before each row; without it the trace has no such column. */
  thinkTimeUs?: (row: number) => number;
  /** Deadlines count from the arrival. */
  relativeDeadlines: boolean;
  /** Ids are places in the order of arrival instead of the table's. */
  renumber: boolean;
}

function* rows(table: RequestTable, facts: RowFacts): Generator<string, void, undefined> {
  const { blocks, kinds } = table;
  const { outcomes, thinkTimeUs, wantedUs } = facts;
  const hasSloTarget = table.sloTargetUs.subarray(0, table.count).some((us) => us > 0);
  const clients = table.clients.names().map(quoted);
  const tenants = table.tenants.names().map(quoted);
  const sloClasses = table.sloClasses.names().map(quoted);
  const sessions = table.sessions.names().map(quoted);
  const groups = table.prefixGroups.names().map(quoted);
  const models = table.models.names().map(quoted);
  const columns = fixedColumns(false, hasSloTarget);
  if (thinkTimeUs !== undefined) columns.push('think_time_us');
  if (blocks !== null) columns.push('block_hashes');
  let text = `${columns.join(',')}\n`;
  let position = 0;
  for (const row of arrivalOrder(table)) {
    const arrival = table.arrivalUs[row]!;
    const group = table.prefixGroup[row]!;
    const prefix = table.prefixTokens[group]!;
    const ttft = outcomes?.ttftUs[row] ?? Number.NaN;
    const first = Number.isNaN(ttft) ? 0 : arrival + ttft;
    const last = Number.isNaN(ttft) ? 0 : first + (outcomes!.itlSumUs[row]! || 0);
    const streaming = (table.flags[row]! & ROW_STREAMING) !== 0;
    const id = facts.renumber ? position++ : sourceIdOf(table, row);
    text += `${id},${clients[table.client[row]!]},${tenants[table.tenant[row]!]},${sloClasses[table.sloClass[row]!]},`;
    text += `${sessions[table.session[row]!]},${table.round[row]},${groups[group]},${prefix},${streaming},`;
    text += `${table.inputTokens[row]! - prefix},${table.outputTokens[row]},`;
    if (kinds === null) text += '0,0,0,0,0,';
    else
      text += `${kinds.text[row]},${kinds.image[row]},${kinds.audio[row]},${kinds.video[row]},${kinds.reasonRatio[row]},`;
    text += `${models[table.model[row]!]},${deadline(table, row, facts)},${hasSloTarget ? `${table.sloTargetUs[row]},` : ''}0,`;
    text += `${wantedUs[row]},${arrival},${first},${last},0,${outcomes?.status(row) ?? ''},,`;
    if (thinkTimeUs !== undefined) text += `,${thinkTimeUs(row)}`;
    if (blocks !== null) text += `,${writeBlockList(blocks, row)}`;
    text += '\n';
    if (text.length >= CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
  }
  yield text;
}

function deadline({ arrivalUs, deadlineUs }: RequestTable, row: number, facts: RowFacts): number {
  const us = deadlineUs[row]!;
  if (us === 0) return 0;
  // Past due on arrival either way, but a deadline before what the client wanted would not read back.
  return facts.relativeDeadlines ? Math.max(1, us - arrivalUs[row]!) : Math.max(facts.wantedUs[row]!, us);
}

/** Plain words need no quotes, and headers of plain words are read without a YAML reader. */
function word(text: string): string {
  return /^[a-z]+$/.test(text) ? text : JSON.stringify(text);
}

function quoted(name: string): string {
  return /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}
