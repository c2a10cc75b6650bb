import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyTrace, madeTrace } from '../../tools/made-trace.fixture.js';
import { traceStats } from '../../tools/stats/trace-stats.js';
import type { Trace } from '../../trace.js';
import { writeTrace } from '../../trace-v2/write.js';
import { readAnyTrace } from '../read-any-trace.js';
import { writeMooncake } from './write-mooncake.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mooncake-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const text = (trace: Trace) => [...writeMooncake(trace)].join('');
const ids = (trace: Trace) =>
  text(trace)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).hash_ids);

async function reread(name: string, written: string): Promise<Trace> {
  const path = join(folder, name);
  writeFileSync(path, written);
  return readAnyTrace(path);
}

describe('writeMooncake', () => {
  it('writes a line per request in order of time, with whole milliseconds', () => {
    const trace = madeTrace([
      { at: 5_499, input: 700, output: 3 },
      { at: 1_000, input: 0, output: 1 },
    ]);
    expect(text(trace)).toBe(
      '{"timestamp": 1, "input_length": 0, "output_length": 1, "hash_ids": []}\n' +
        '{"timestamp": 5, "input_length": 700, "output_length": 3, "hash_ids": [0, 1]}\n',
    );
  });

  it('keeps the ids of recorded blocks, including the last one, and numbers other blocks', () => {
    const rows = [{ blocks: [7, 8] }, { blocks: [7, 8] }, { blocks: [7] }, {}];
    expect(ids(madeTrace(rows.map((row) => ({ input: 600, ...row }))))).toEqual([
      [0, 1],
      [0, 1],
      [0, 2],
      [3, 4],
    ]);
  });

  it('numbers blocks of another size where they fill 512 tokens', () => {
    const rows = [{ blocks: [1, 2, 3] }, { blocks: [1, 2, 4] }, { blocks: [1, 2, 3] }];
    const trace = madeTrace(
      rows.map((row) => ({ input: 768, ...row })),
      {},
      256,
    );
    expect(ids(trace)).toEqual([
      [0, 1],
      [0, 2],
      [0, 3],
    ]);
  });

  it('shares ids inside a prefix and along a session that grows', () => {
    const group = { group: 'g', prefix: 1100, input: 1200 };
    expect(ids(madeTrace([group, group]))).toEqual([
      [0, 1, 2],
      [0, 1, 3],
    ]);
    const chat = [
      { at: 1, session: 'a', round: 0, input: 1000, output: 100 },
      { at: 2, session: 'a', round: 1, input: 500, output: 1 },
    ];
    const grown = madeTrace(chat, { sessionContextGrowth: 'accumulate' });
    expect(ids(grown)).toEqual([
      [0, 1],
      [0, 2, 3, 4],
    ]);
    expect(JSON.parse(text(grown).split('\n')[1]!).input_length).toBe(1599);
  });

  it('comes in chunks', () => {
    const trace = madeTrace(Array.from({ length: 2000 }, (_, at) => ({ at })));
    expect([...writeMooncake(trace)].length).toBeGreaterThan(2);
  });

  it('reads back with the same times, lengths and shared blocks, through TraceV2 too', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrace, async (trace) => {
        const back = await reread('back.jsonl', text(trace));
        const facts = (of: Trace) => {
          const { stats } = traceStats(of, { blockSize: 512, cacheBlocks: 5 });
          const { rate, input_tokens, output_tokens, prefix_reuse } = stats;
          const { hot_prefixes, known_by, ...reuse } = prefix_reuse;
          return {
            rate,
            input_tokens,
            output_tokens,
            reuse,
            hot: hot_prefixes.map(({ tokens, uses }) => [tokens, uses]),
          };
        };
        expect(facts(back)).toEqual(facts(trace));
        const { data, header } = writeTrace(back);
        writeFileSync(join(folder, 'again.yaml'), header);
        expect(text(await reread('again.csv', [...data].join('')))).toBe(text(back));
      }),
      { numRuns: 60 },
    );
  });
});
