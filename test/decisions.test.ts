import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { main } from '../src/cli/main.js';
import { testIo } from './support/test-io.js';

const FOLDER = fileURLToPath(new URL('./golden/decisions', import.meta.url));
const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.case.json'))
  .map((file) => file.replace('.case.json', ''))
  .sort();

function read(name: string, part: string): string {
  return readFileSync(join(FOLDER, `${name}.${part}`), 'utf8');
}

function parsedLines(text: string): unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function decide(name: string, more: readonly string[] = []): Promise<string> {
  const { routing_policy, options, cache_blocks, block_size } = JSON.parse(read(name, 'case.json'));
  const io = testIo({ stdin: read(name, 'events.jsonl') });
  const argv = ['--routing-policy', routing_policy, '--policy-options', JSON.stringify(options)];
  const sizes = ['--block-size', String(block_size), '--cache-blocks', String(cache_blocks)];
  const code = await main(['decide', ...argv, ...sizes, ...more], io);
  expect(io.stderrText()).toBe('');
  expect(code).toBe(0);
  return io.stdoutText();
}

test.each(names)('%s: every decision is the recorded one', async (name) => {
  const expected = read(name, 'expected.jsonl').trimEnd().split('\n');
  expect(expected.length).toBeGreaterThan(100);
  expect((await decide(name)).trimEnd().split('\n')).toEqual(expected);
});

test.each(names)('%s: explained, it is the same', async (name) => {
  const decisions = parsedLines(await decide(name, ['--explain'])) as { id: string; replica: string }[];
  expect(decisions.map(({ id, replica }) => ({ id, replica }))).toEqual(parsedLines(read(name, 'expected.jsonl')));
});

test('the cases exist', () => {
  expect(names.length).toBeGreaterThanOrEqual(15);
});
