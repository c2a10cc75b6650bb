import type { PromptBlocks } from '../prompt-blocks.js';
import { type RequestTable, ROW_GROWS_CONTEXT } from '../request-table.js';
import { commonBlocks, EarlierPrompts } from './earlier-prompts.js';
import type { SharedPrefixes } from './shared-prefixes.js';

/** The requests of a trace as sessions; a request that belongs to no other is a session of one turn. */
export interface FoundSessions {
  count: number;
  /** By session: where its turns begin in `rows`; they end where the next one's begin. */
  begin: Int32Array;
  /** Rows of the table, session by session, in order of time. */
  rows: Int32Array;
}

/**
 * A request continues a session when its prompt shares at least this part of the prompt before: users edit a message
 * or two, agents shorten their context.
 */
const LEAST_KEPT = 1 / 3;

/**
 * Which requests are turns of the same session. Recorded blocks are the best evidence: a prompt that continues an
 * earlier one is the next turn (with the same session id, where there is one); one that starts over begins a new
 * session, as it does for a cache. Without blocks a session is a session id.
 */
export function findSessions(table: RequestTable, order: Int32Array, prefixes: SharedPrefixes): FoundSessions {
  const chatOf = new Int32Array(table.count);
  const { blocks } = table;
  const count = blocks === null ? bySession(table, order, chatOf) : byBlocks(table, blocks, order, prefixes, chatOf);
  const begin = new Int32Array(count + 1);
  for (let row = 0; row < table.count; row++) begin[chatOf[row]! + 1]!++;
  for (let chat = 1; chat <= count; chat++) begin[chat]! += begin[chat - 1]!;
  const next = begin.slice();
  const rows = new Int32Array(table.count);
  for (const row of order) rows[next[chatOf[row]!]!++] = row;
  return { count, begin, rows };
}

/** Whether a later turn's prompt starts with the whole session so far. */
export function rowGrowsContext(table: RequestTable, row: number): boolean {
  return table.blocks !== null || (table.flags[row]! & ROW_GROWS_CONTEXT) !== 0;
}

function bySession(table: RequestTable, order: Int32Array, chatOf: Int32Array): number {
  const chatOfSession = new Int32Array(table.sessions.size).fill(-1);
  let count = 0;
  for (const row of order) {
    const session = table.session[row]!;
    if (session === 0 || chatOfSession[session]! < 0) chatOf[row] = count++;
    else chatOf[row] = chatOfSession[session]!;
    if (session > 0) chatOfSession[session] = chatOf[row]!;
  }
  return count;
}

function byBlocks(
  table: RequestTable,
  blocks: PromptBlocks,
  order: Int32Array,
  prefixes: SharedPrefixes,
  chatOf: Int32Array,
): number {
  const earlier = new EarlierPrompts(table, blocks);
  let count = 0;
  for (const row of order) {
    const shared = Math.floor(prefixes.tokens[prefixes.ofRow[row]!]! / blocks.blockTokens);
    const before = earlier.nearest(row);
    const kept = before < 0 ? 0 : commonBlocks(blocks, before, row) - shared;
    const own = before < 0 ? 0 : Math.floor(table.inputTokens[before]! / blocks.blockTokens) - shared;
    chatOf[row] = kept > 0 && kept >= LEAST_KEPT * own ? chatOf[before]! : count++;
    earlier.add(row);
  }
  return count;
}
