import { plainTrace } from '../formats/records/plain-trace.js';
import { PromptBlocks } from '../prompt-blocks.js';
import { RequestTable } from '../request-table.js';
import type { Trace } from '../trace.js';

/** A request as tests write it down. */
export interface TestRequest {
  atUs?: number;
  input?: number;
  output?: number;
  /** Ids of its blocks of 512 tokens; `input` follows from them unless given. */
  blocks?: readonly number[];
  session?: string;
  client?: string;
  tenant?: string;
  sloClass?: string;
  group?: string;
}

/** A trace of these requests; with blocks if any of them has some. */
export function testTrace(requests: readonly TestRequest[]): Trace {
  const table = new RequestTable();
  if (requests.some(({ blocks }) => blocks !== undefined)) table.blocks = new PromptBlocks(512);
  requests.forEach(({ atUs, input, output, blocks, session, client, tenant, sloClass, group }, i) => {
    const row = table.append();
    table.arrivalUs[row] = atUs ?? i * 1_000_000;
    table.inputTokens[row] = input ?? (blocks?.length ?? 1) * 512;
    table.outputTokens[row] = output ?? 10;
    table.session[row] = table.sessions.index(session ?? '');
    table.client[row] = table.clients.index(client ?? '');
    table.tenant[row] = table.tenants.index(tenant ?? '');
    table.sloClass[row] = table.sloClasses.index(sloClass ?? '');
    table.prefixGroup[row] = table.prefixGroups.index(group ?? '');
    for (const id of blocks ?? []) table.blocks!.add(id);
    table.blocks?.endRow(row);
  });
  return plainTrace('test', 'test.jsonl', table, (row, column) => `test.jsonl:${row + 1} (${column})`);
}

/** Numbers from `first` on. */
export function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => first + i);
}
