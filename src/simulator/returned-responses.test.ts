import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fakeConfig, fakeLatency } from '../replica/fake-replica.fixture.js';
import { Replica } from '../replica/replica.js';
import { RequestOutcomes } from '../replica/request-outcomes.js';
import { readAnyTrace } from '../workload/formats/read-any-trace.js';
import { PromptKeys } from '../workload/prompt-keys.js';
import { type RequestTable, sourceIdOf } from '../workload/request-table.js';
import { linkResponses } from '../workload/sessions/link-responses.js';
import { chats, type Recorded, record } from '../workload/sessions/recorded-chats.fixture.js';
import { selectRows } from '../workload/tools/select-rows.js';

function linked(requests: readonly Recorded[], blockTokens = 16) {
  const trace = record(requests, blockTokens);
  linkResponses(trace);
  return trace;
}

describe('a response that comes back', () => {
  /** Prompt tokens that each request finds in the cache of one replica. */
  function cachedTokens({ table }: { table: RequestTable }, blockSize: number) {
    const cached = new Int32Array(table.count);
    const requests = {
      table,
      outcomes: new RequestOutcomes(table.count),
      keys: new PromptKeys(table, blockSize),
      cachedTokens: cached,
      urgency: () => 0,
    };
    const config = fakeConfig({ blockSize, totalKvBlocks: 4096, maxModelLen: 8192, engineRules: 'vllm-v1' });
    const events = { firstToken: () => {}, left: () => {} };
    const replica = new Replica(config, fakeLatency(), requests, events, Number.POSITIVE_INFINITY);
    for (let row = 0; row < table.count; row++) {
      replica.advance(table.arrivalUs[row]!);
      replica.enqueue(row, table.arrivalUs[row]!);
    }
    replica.advance(Number.POSITIVE_INFINITY);
    return [...cached];
  }

  /** The same of a cache of real tokens: what a request has computed is all but its last token. */
  function reallyCached(requests: readonly Recorded[], blockSize: number) {
    const cache = new Set<string>();
    return requests.map(({ prompt, response }) => {
      let found = 0;
      while (found + blockSize < prompt.length && cache.has(prompt.slice(0, found + blockSize).join()))
        found += blockSize;
      const computed = [...prompt, ...response].slice(0, prompt.length + Math.max(0, response.length - 1));
      for (let end = blockSize; end <= computed.length; end += blockSize) cache.add(computed.slice(0, end).join());
      return found;
    });
  }

  it.each([16, 8, 4])('is found block by block, as in a cache of real tokens, with KV blocks of %d', (blockSize) => {
    const requests = chats(6, 5, 50);
    const expected = reallyCached(requests, blockSize);
    expect(cachedTokens(linked(requests), blockSize)).toEqual(expected);
    const unlinked = cachedTokens(record(requests), blockSize);
    expect(unlinked.reduce((sum, n) => sum + n)).toBeLessThan(expected.reduce((sum, n) => sum + n));
  });

  it('is found in recordings of large blocks, up to the last recorded one', () => {
    const requests = chats(4, 6, 128);
    const expected = reallyCached(requests, 16);
    const found = cachedTokens(linked(requests, 64), 16);
    found.forEach((n, row) => {
      const known = Math.floor(requests[row]!.prompt.length / 64) * 64;
      expect(n).toBe(Math.min(expected[row]!, known));
    });
  });

  it('is found as a gateway recorded it in front of emulated engines', async () => {
    const path = new URL('../../examples/traffic.jsonl', import.meta.url).pathname;
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    const records: { replica: string; session: string; cached_tokens: number | null }[] = lines.map((line) =>
      JSON.parse(line),
    );
    const trace = await readAnyTrace(path);
    let turns = 0;
    let exact = 0;
    for (const replica of new Set(records.map((one) => one.replica))) {
      const recordOf = (table: RequestTable, row: number) => records[sourceIdOf(table, row)]!;
      const rows = Array.from({ length: trace.table.count }, (_, row) => row);
      const part = selectRows(
        trace,
        Int32Array.from(rows.filter((row) => recordOf(trace.table, row).replica === replica)),
      );
      linkResponses(part);
      const sessions = new Set<string>();
      for (const [row, cached] of cachedTokens(part, 16).entries()) {
        const { cached_tokens, session } = recordOf(part.table, row);
        if (sessions.has(session) && cached_tokens !== null) {
          turns++;
          exact += cached === cached_tokens ? 1 : 0;
        }
        sessions.add(session);
      }
    }
    // In one turn the engine found a block beyond the response: it had seen that text before the recording.
    expect([turns, exact]).toEqual([38, 37]);
  });
});
