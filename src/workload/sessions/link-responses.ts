import { arrivalOrder } from '../arrival-order.js';
import type { PromptBlocks } from '../prompt-blocks.js';
import type { RequestTable } from '../request-table.js';
import type { Trace } from '../trace.js';

/** Most engines cache blocks of this many tokens, or fewer. */
const ENGINE_BLOCK = 16;

/**
 * Finds the requests of a trace whose response comes back: a later prompt begins with the whole prompt, block by block, and
 * is long enough for the response. From then on what the response has computed is found by that prompt.
 *
 * Recorders give ids to prompts only, so that the ids say which prompt continues which, and the recorded cached tokens
 * whether the response was found: more of them than the first prompt has shows that it was, exactly the blocks of that prompt, on the
 * replica that served it, that it was not (a client that leaves out what the model thought, another tokenisation). Where neither is known, the other
 * turns of the recording decide; without any, turns of the same session repeat responses, and requests outside sessions do not.
 */
export function linkResponses({ observed, table }: Pick<Trace, 'observed' | 'table'>): void {
  const { blocks } = table;
  if (blocks === null || (observed === undefined && table.sessions.size === 1)) return;
  const before = previousTurns(table, blocks, observed?.e2eUs);
  const by = observed?.served?.by;
  const found = (row: number) => {
    const first = before[row]!;
    const verdict = wasFound(table, first, observed?.cachedTokens[row] ?? -1);
    // What another replica found says nothing about a response that it never computed.
    return verdict < 0 && by !== undefined && by[row] !== by[first] ? 0 : verdict;
  };
  let balance = 0;
  let evidence = 0;
  for (let row = 0; row < table.count; row++) {
    const verdict = before[row]! < 0 ? 0 : found(row);
    balance += verdict;
    evidence += Math.abs(verdict);
  }
  for (let row = 0; row < table.count; row++) {
    const first = before[row]!;
    if (first < 0) continue;
    const isAssumed = evidence > 0 ? balance > 0 : table.session[row]! > 0;
    const verdict = found(row);
    if (verdict > 0 || (verdict === 0 && isAssumed)) {
      blocks.continueWith(first, row, table.inputTokens[first]! + table.outputTokens[first]!);
    }
  }
}

/** By row: the request that its prompt continues, -1 for none. No request is continued twice: the first prompt counts. */
function previousTurns(table: RequestTable, blocks: PromptBlocks, e2eUs: Float64Array | undefined): Int32Array {
  const { arrivalUs, inputTokens, outputTokens, session } = table;
  const before = new Int32Array(table.count).fill(-1);
  /** By session and block: the latest request whose last full block it is, and that is not continued yet. */
  const endsWith = new Map<number, number>();
  /** By block: whether it is the last full one of any. Most are not. */
  const isLast = new Uint8Array(blocks.count);
  const place = (row: number, block: number) => session[row]! * blocks.count + block;
  for (const row of arrivalOrder(table)) {
    for (let i = blocks.blocksOf(row) - 1; i >= 0; i--) {
      const block = blocks.block(row, i);
      const first = isLast[block] === 0 ? undefined : endsWith.get(place(row, block));
      if (first === undefined) continue;
      const endUs = arrivalUs[first]! + (e2eUs?.[first] || 0);
      if (endUs > arrivalUs[row]! || inputTokens[row]! < inputTokens[first]! + outputTokens[first]!) continue;
      before[row] = first;
      endsWith.delete(place(row, block));
      break;
    }
    const full = Math.min(blocks.blocksOf(row), Math.floor(inputTokens[row]! / blocks.blockTokens));
    if (full === 0 || outputTokens[row]! < 2) continue;
    const last = blocks.block(row, full - 1);
    isLast[last] = 1;
    endsWith.set(place(row, last), row);
  }
  return before;
}

/** Whether the recording shows that a response was found (1), that it was not (-1), or neither (0). */
function wasFound({ inputTokens, outputTokens }: RequestTable, first: number, cachedTokens: number): number {
  const prompt = inputTokens[first]!;
  if (cachedTokens > prompt) return 1;
  const isDecisive = cachedTokens > prompt - ENGINE_BLOCK && outputTokens[first]! >= 2 * ENGINE_BLOCK;
  return isDecisive && cachedTokens >= 0 ? -1 : 0;
}
