import { percentile } from '../../kernel/percentile.js';
import { arrivalOrder } from '../arrival-order.js';
import type { Trace } from '../trace.js';

/** Statistics of a trace with sessions and blocks, under the names of those published for the agentic-coder trace. */
export interface AgenticStatistics {
  requests: number;
  sessions: number;
  durationS: number;
  meanInput: number;
  meanOutput: number;
  prefillShare: number;
  insideShare: number;
  turnsP90: number;
  turnsP99: number;
  turnsMax: number;
}

export function agenticStatistics({ table }: Trace): AgenticStatistics {
  const { arrivalUs, count, inputTokens, outputTokens, session } = table;
  const order = arrivalOrder(table);
  const turns = new Int32Array(table.sessions.size);
  let input = 0;
  let output = 0;
  for (let row = 0; row < count; row++) {
    turns[session[row]!]!++;
    input += inputTokens[row]!;
    output += outputTokens[row]!;
  }
  const perSession = turns.subarray(1).sort();
  return {
    requests: count,
    sessions: perSession.length,
    durationS: (arrivalUs[order[count - 1]!]! - arrivalUs[order[0]!]!) / 1e6,
    meanInput: input / count,
    meanOutput: output / count,
    prefillShare: input / (input + output),
    insideShare: insideShare(table, order),
    turnsP90: percentile(perSession, 90),
    turnsP99: percentile(perSession, 99),
    turnsMax: perSession[perSession.length - 1]!,
  };
}

/** Of the blocks that stood in an earlier prompt, the share that stood in an earlier prompt of the same session. */
function insideShare(table: Trace['table'], order: Int32Array): number {
  const blocks = table.blocks!;
  const seen = new Uint8Array(blocks.count);
  const seenBySession = Array.from({ length: table.sessions.size }, () => new Set<number>());
  let reused = 0;
  let inside = 0;
  for (const row of order) {
    const own = seenBySession[table.session[row]!]!;
    for (let i = 0; i < blocks.blocksOf(row); i++) {
      const block = blocks.block(row, i);
      if (seen[block] === 1) reused++;
      if (own.has(block)) inside++;
      seen[block] = 1;
      own.add(block);
    }
  }
  return inside / reused;
}
