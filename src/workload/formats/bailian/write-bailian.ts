import { arrivalOrder } from '../../arrival-order.js';
import type { Trace } from '../../trace.js';

const CHUNK_CHARACTERS = 64 * 1024;
/** The parent of a request that begins a session. */
const NO_PARENT = -1;

/**
 * A trace with sessions and recorded blocks as Bailian JSON lines, in chunks, in order of arrival: times in seconds to
 * the microsecond, requests numbered in that order, each with the number of the turn before it. Reads back as the same
 * requests.
 */
export function* writeBailian({ table }: Trace): Generator<string, void, undefined> {
  const blocks = table.blocks!;
  /** By session: the number of its last request so far. */
  const last = new Int32Array(table.sessions.size).fill(NO_PARENT);
  let text = '';
  let id = 0;
  for (const row of arrivalOrder(table)) {
    const session = table.session[row]!;
    const ids: number[] = [];
    for (let i = 0; i < blocks.blocksOf(row); i++) ids.push(blocks.block(row, i));
    const record = {
      chat_id: id,
      parent_chat_id: last[session],
      timestamp: table.arrivalUs[row]! / 1e6,
      input_length: table.inputTokens[row],
      output_length: table.outputTokens[row],
      type: table.clients.name(table.client[row]!),
      turn: table.round[row]! + 1,
      hash_ids: ids,
      session_id: table.sessions.name(session),
    };
    text += `${JSON.stringify(record)}\n`;
    last[session] = id++;
    if (text.length >= CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
  }
  yield text;
}
