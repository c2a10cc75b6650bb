import { OBSERVED_OUTCOMES } from '../observed.js';
import { PromptBlocks } from '../prompt-blocks.js';
import { RequestTable } from '../request-table.js';

/** A request with its real tokens, which the recording does not have. */
export interface Recorded {
  at: number;
  prompt: readonly number[];
  response: readonly number[];
  session?: string;
  /** As recorded; absent where it was not. */
  cached?: number;
  e2e?: number;
}

let nextToken = 1;

/** Tokens that no other request has. */
export function tokens(count: number): number[] {
  return Array.from({ length: count }, () => nextToken++);
}

/** Records as a gateway does: chained ids of the full blocks of prompts. */
export function record(requests: readonly Recorded[], blockTokens = 16) {
  const table = new RequestTable();
  const blocks = new PromptBlocks(blockTokens);
  const ids = new Map<string, number>();
  for (const { at, prompt, response, session } of requests) {
    const row = table.append();
    table.arrivalUs[row] = at;
    table.inputTokens[row] = prompt.length;
    table.outputTokens[row] = response.length;
    table.session[row] = table.sessions.index(session ?? '');
    for (let end = blockTokens; end <= prompt.length; end += blockTokens) {
      const text = prompt.slice(0, end).join();
      if (!ids.has(text)) ids.set(text, ids.size);
      blocks.add(ids.get(text)!);
    }
    blocks.endRow(row);
  }
  table.blocks = blocks;
  const times = (us: (one: Recorded) => number) => Float64Array.from(requests, us);
  const observed = {
    dispatchUs: times(() => 0),
    ttftUs: times(() => Number.NaN),
    e2eUs: times(({ e2e }) => e2e ?? Number.NaN),
    cachedTokens: Int32Array.from(requests, ({ cached }) => cached ?? -1),
    outcome: new Uint8Array(requests.length).fill(OBSERVED_OUTCOMES.indexOf('ok')),
  };
  return { table, observed };
}

/** Sessions of several turns that take turns, all with the same beginning. */
export function chats(count: number, turns: number, shared: number): Recorded[] {
  const system = tokens(shared);
  const contexts = Array.from({ length: count }, () => [...system]);
  const all: Recorded[] = [];
  for (let turn = 0; turn < turns; turn++) {
    contexts.forEach((context, session) => {
      const prompt = [...context, ...tokens(5 + 13 * turn + session)];
      const response = tokens(3 + 17 * turn + 5 * session);
      all.push({ at: all.length * 1e6, prompt, response, session: `s${session}` });
      contexts[session] = [...prompt, ...response];
    });
  }
  return all;
}
