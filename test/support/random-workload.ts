import fc from 'fast-check';
import { PromptBlocks } from '../../src/workload/prompt-blocks.js';
import { RequestTable } from '../../src/workload/request-table.js';
import { TraceSessionDriver } from '../../src/workload/sessions/trace-session-driver.js';
import type { Trace } from '../../src/workload/trace.js';
import type { Workload } from '../../src/workload/workload.js';

interface PlainRequest {
  gapUs: number;
  input: number;
  output: number;
  sloClass: string;
  tenant: string;
  model: string;
  group: number;
  session: number;
  deadlineUs: number;
  sloTargetUs: number;
  /** Ids of the prompt's first recorded blocks; empty where none were recorded. */
  blocks: number[];
}

export interface PlainWorkload {
  requests: PlainRequest[];
  prefixTokens: number[];
  /** Sessions wait for their responses; 'grow' also repeats their context. */
  chats: 'recorded' | 'closed-loop' | 'grow';
  /** Whether arrivals stand in the table in order. */
  shuffled: boolean;
  /** Tokens of a recorded block; 0 when none were recorded. */
  blockTokens: number;
}

const request: fc.Arbitrary<PlainRequest> = fc
  .record({
    gapUs: fc.constantFrom(0, 0, 1, 500, 9000, 40_000),
    input: fc.oneof(fc.integer({ min: 0, max: 120 }), fc.constantFrom(0, 16, 32, 64, 300)),
    output: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(0, 1, 2, 16, 17, 90)),
    sloClass: fc.constantFrom('', '', 'critical', 'standard', 'batch', 'sheddable', 'background', 'mine'),
    tenant: fc.constantFrom('', 't1', 't2', 't3'),
    model: fc.constantFrom('', '', '', '', 'qwen/qwen3-14b', 'Qwen/Qwen3-14B'),
    group: fc.constantFrom(0, 0, 1, 2),
    session: fc.constantFrom(0, 0, 1, 2, 3, 4),
    deadlineUs: fc.constantFrom(0, 0, 0, 1, 60_000, 400_000, 2_000_000),
    sloTargetUs: fc.constantFrom(0, 0, 10_000, 700_000),
    blocks: fc.array(fc.constantFrom(0, 0, 1, 2, 5_000_000), { maxLength: 4 }),
  })
  .map((plain) => (plain.input + plain.output === 0 ? { ...plain, output: 1 } : plain));

export const randomWorkload: fc.Arbitrary<PlainWorkload> = fc.record({
  requests: fc.array(request, { minLength: 1, maxLength: 45 }),
  prefixTokens: fc.tuple(fc.constant(0), fc.constantFrom(8, 33, 64), fc.constantFrom(5, 48)).map((sizes) => [...sizes]),
  chats: fc.constantFrom('recorded', 'closed-loop', 'grow'),
  shuffled: fc.boolean(),
  blockTokens: fc.constantFrom(0, 0, 5, 16, 24, 64),
});

/** Creates the requests again: a simulation of sessions appends to its table. */
export function buildWorkload(plain: PlainWorkload): Workload {
  const table = new RequestTable();
  const rounds = new Map<number, number>();
  plain.prefixTokens.forEach((tokens, group) => {
    if (group > 0) table.prefixTokens[table.prefixGroups.index(`g${group}`)] = tokens;
  });
  // A growing session and recorded blocks would describe the same prompt twice.
  const recorded = plain.blockTokens > 0 && plain.chats !== 'grow';
  if (recorded) table.blocks = new PromptBlocks(plain.blockTokens);
  let atUs = 1000;
  for (const one of plain.requests) {
    const row = table.append();
    atUs += one.gapUs;
    table.arrivalUs[row] = plain.shuffled && row % 3 === 0 ? Math.max(1, atUs - 30_000) : atUs;
    table.prefixGroup[row] = one.group;
    table.inputTokens[row] = one.input + plain.prefixTokens[one.group]!;
    table.outputTokens[row] = one.output;
    table.deadlineUs[row] = one.deadlineUs === 0 ? 0 : table.arrivalUs[row]! + one.deadlineUs;
    table.sloTargetUs[row] = one.sloTargetUs;
    table.sloClass[row] = table.sloClasses.index(one.sloClass);
    table.tenant[row] = table.tenants.index(one.tenant);
    table.model[row] = table.models.index(one.model);
    table.session[row] = one.session === 0 ? 0 : table.sessions.index(`s${one.session}`);
    table.round[row] = rounds.get(one.session) ?? 0;
    if (recorded) {
      const room = Math.ceil(table.inputTokens[row]! / plain.blockTokens);
      for (const id of one.blocks.slice(0, room)) table.blocks!.add(id);
      table.blocks!.endRow(row);
    }
    if (one.session !== 0) rounds.set(one.session, table.round[row]! + 1);
  }
  if (plain.chats === 'recorded') return { table };
  const trace: Trace = {
    format: 'trace-v2',
    header: { mode: 'generated', sessionContextGrowth: '', goodputTargets: {}, place: (key) => key },
    table,
    wantedUs: table.arrivalUs.slice(),
    thinkTimeUs: null,
    unsorted: plain.shuffled,
    place: (row, column) => `${row} (${column})`,
  };
  const driver = new TraceSessionDriver(trace, plain.chats === 'grow', null);
  return { table: driver.firstTurns(), sessions: driver };
}
