import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { captured } from '../test-io.fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-input-'));
afterAll(() => rmSync(folder, { recursive: true }));

const repository = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const TOOLS = [
  'trace cap --max-turns 8',
  'trace scale --rate 2x',
  'trace anonymise',
  'trace slice --first 5',
  'convert',
];

describe('every tool that reads a trace', () => {
  it.each(TOOLS)('warns when time goes backwards: %s', async (tool) => {
    const lines = readFileSync(repository('src/workload/formats/samples/mooncake.jsonl'), 'utf8').trimEnd().split('\n');
    const back = join(folder, 'back.jsonl');
    writeFileSync(back, `${lines.reverse().join('\n')}\n`);
    const { code, stderr } = await captured(`${tool} ${back} -o ${join(folder, 'out.csv')}`);
    expect([code, stderr]).toEqual([0, expect.stringContaining('requests are not in order of arrival')]);
  });

  it.each(TOOLS)('refuses sessions with missing turns: %s', async (tool) => {
    const [names, ...rows] = readFileSync(repository('examples/small-trace.csv'), 'utf8').trimEnd().split('\n');
    const skip = join(folder, 'skip.csv');
    writeFileSync(skip, `${[names, ...rows.filter((row) => row.split(',')[5] !== '1')].join('\n')}\n`);
    const { code, stderr } = await captured(`${tool} ${skip} -o ${join(folder, 'none.csv')}`);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/skip\.csv:\d+:\d+ \(round_index\): session .* no round 1/),
    ]);
  });
});

describe('a configuration of inference-perf', () => {
  const path = repository('src/workload/formats/samples/inference-perf.yaml');

  it('is a workload', async () => {
    const { code, stdout } = await captured(`run --model qwen/qwen3-14b --workload-spec ${path} --num-requests 5`);
    expect([code, JSON.parse(stdout).cluster.completed_requests]).toEqual([0, 5]);
  });

  it('is refused as not a trace, with a hint', async () => {
    const { code, stderr } = await captured(`trace stats ${path}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining("give it to 'run --workload-spec'")]);
  });
});
