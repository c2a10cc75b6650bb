import fc from 'fast-check';
import { isSorted } from '../arrival-order.js';
import { PromptBlocks } from '../prompt-blocks.js';
import { RequestTable, ROW_STREAMING, setSourceId, sourceIdOf } from '../request-table.js';
import type { Trace, TraceHeader } from '../trace.js';

/** A request as tests write it down: omitted fields are empty. */
export interface MadeRow {
  id: number;
  at: number;
  wanted: number;
  input: number;
  output: number;
  client: string;
  tenant: string;
  sloClass: string;
  session: string;
  round: number;
  group: string;
  /** Tokens of the group's prefix, part of the input. */
  prefix: number;
  model: string;
  deadline: number;
  target: number;
  streaming: boolean;
  think: number;
  image: number;
  reasonRatio: number;
  blocks: readonly number[];
}

const PLAIN: MadeRow = {
  id: 0,
  at: 0,
  wanted: 0,
  input: 100,
  output: 10,
  client: '',
  tenant: '',
  sloClass: '',
  session: '',
  round: 0,
  group: '',
  prefix: 0,
  model: '',
  deadline: 0,
  target: 0,
  streaming: false,
  think: 0,
  image: 0,
  reasonRatio: 0,
  blocks: [],
};

const HEADER: TraceHeader = {
  mode: 'generated',
  sessionContextGrowth: '',
  goodputTargets: {},
  place: (key) => `made.yaml (${key})`,
};

export function madeTrace(
  given: readonly Partial<MadeRow>[],
  header: Partial<TraceHeader> = {},
  blockTokens = 512,
): Trace {
  const rows = given.map((row, id): MadeRow => ({ ...PLAIN, id, wanted: row.at ?? 0, ...row }));
  const table = new RequestTable(Math.max(1, rows.length));
  if (rows.some(({ blocks }) => blocks.length > 0)) table.blocks = new PromptBlocks(blockTokens);
  if (rows.some(({ image, reasonRatio }) => image > 0 || reasonRatio > 0)) table.ensureKinds();
  for (const made of rows) {
    const row = table.append();
    setSourceId(table, row, made.id);
    table.arrivalUs[row] = made.at;
    table.inputTokens[row] = made.input;
    table.outputTokens[row] = made.output;
    table.deadlineUs[row] = made.deadline;
    table.sloTargetUs[row] = made.target;
    table.client[row] = table.clients.index(made.client);
    table.tenant[row] = table.tenants.index(made.tenant);
    table.sloClass[row] = table.sloClasses.index(made.sloClass);
    table.session[row] = table.sessions.index(made.session);
    table.prefixGroup[row] = table.prefixGroups.index(made.group);
    table.prefixTokens[table.prefixGroup[row]!] = made.prefix;
    table.model[row] = table.models.index(made.model);
    table.round[row] = made.round;
    table.flags[row] = made.streaming ? ROW_STREAMING : 0;
    if (table.kinds !== null) {
      table.kinds.image[row] = made.image;
      table.kinds.reasonRatio[row] = made.reasonRatio;
    }
    for (const id of made.blocks) table.blocks!.add(id);
    table.blocks?.endRow(row);
  }
  return {
    format: 'trace-v2',
    header: { ...HEADER, ...header },
    table,
    wantedUs: Float64Array.from(rows, ({ wanted }) => wanted),
    thinkTimeUs: rows.some(({ think }) => think > 0) ? Float64Array.from(rows, ({ think }) => think) : null,
    unsorted: !isSorted(table),
    place: (row, column) => `made.csv:${row + 2} (${column})`,
  };
}

/** The requests of a trace as tests write them down. */
export function rowsOf({ table, thinkTimeUs, wantedUs }: Trace): MadeRow[] {
  return Array.from({ length: table.count }, (_, row) => ({
    id: sourceIdOf(table, row),
    at: table.arrivalUs[row]!,
    wanted: wantedUs[row]!,
    input: table.inputTokens[row]!,
    output: table.outputTokens[row]!,
    client: table.clients.name(table.client[row]!),
    tenant: table.tenants.name(table.tenant[row]!),
    sloClass: table.sloClasses.name(table.sloClass[row]!),
    session: table.sessions.name(table.session[row]!),
    round: table.round[row]!,
    group: table.prefixGroups.name(table.prefixGroup[row]!),
    prefix: table.prefixTokens[table.prefixGroup[row]!]!,
    model: table.models.name(table.model[row]!),
    deadline: table.deadlineUs[row]!,
    target: table.sloTargetUs[row]!,
    streaming: (table.flags[row]! & ROW_STREAMING) !== 0,
    think: thinkTimeUs?.[row] ?? 0,
    image: table.kinds?.image[row] ?? 0,
    reasonRatio: table.kinds?.reasonRatio[row] ?? 0,
    blocks: Array.from({ length: table.blocks?.blocksOf(row) ?? 0 }, (_, i) => table.blocks!.block(row, i)),
  }));
}

const name = fc.constantFrom('', '', 'a', 'b', 'with,comma', 'with "quotes"', 'é\n');

/** Traces that use every feature; sessions are numbered from 0, and blocks are at most as many as fit. */
export const anyTrace: fc.Arbitrary<Trace> = fc
  .record({
    mode: fc.constantFrom<TraceHeader['mode']>('', 'real', 'generated', 'replayed'),
    sessionContextGrowth: fc.constantFrom('', 'accumulate'),
    rows: fc.array(
      fc.record({
        at: fc.nat({ max: 100_000 }).map((ms) => ms * 1000),
        late: fc.constantFrom(0, 0, 7),
        fresh: fc.nat({ max: 3000 }),
        output: fc.integer({ min: 1, max: 900 }),
        client: name,
        tenant: name,
        sloClass: name,
        session: fc.constantFrom('', 'x', 'y', 'z'),
        group: fc.constantFrom('', 'g', 'h,'),
        model: name,
        patience: fc.constantFrom(0, 0, 10, 5_000_000),
        target: fc.constantFrom(0, 0, 9),
        streaming: fc.boolean(),
        think: fc.constantFrom(0, 0, 1500),
        image: fc.constantFrom(0, 0, 20),
        reasonRatio: fc.constantFrom(0, 0, 0.25),
        blocks: fc.array(fc.nat({ max: 3 }), { maxLength: 5 }),
        recorded: fc.boolean(),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  })
  .map(({ mode, sessionContextGrowth, rows }) => {
    const rounds = new Map<string, number>();
    const made = rows.map(({ late, fresh, patience, recorded, ...row }, id) => {
      const round = row.session === '' ? 0 : (rounds.get(row.session) ?? 0);
      rounds.set(row.session, round + 1);
      const prefix = row.group.length * 600;
      const input = prefix + fresh;
      const wanted = Math.max(0, row.at - late);
      const fit = recorded && sessionContextGrowth === '' ? Math.ceil(input / 512) : 0;
      const deadline = patience === 0 ? 0 : row.at + patience;
      return { ...row, id: 3 * id, round, prefix, input, wanted, deadline, blocks: row.blocks.slice(0, fit) };
    });
    return madeTrace(made, { mode, sessionContextGrowth });
  });
