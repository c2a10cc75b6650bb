import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readWorkloadSpecFile } from '../../workload/spec/read-workload-spec.js';
import { captured as twinyard } from '../test-io.fixture.js';

let folder: string;
let agents: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-fit-'));
  agents = join(folder, 'agents.jsonl');
  expect((await twinyard(['convert', 'synth', 'agentic-coder', '-o', agents])).code).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('trace fit', () => {
  it('writes the specification and prints the comparison', async () => {
    const spec = join(folder, 'agents.yaml');
    const { code, stdout, stderr } = await twinyard(['trace', 'fit', agents, '-o', spec]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ requests: 1214, seeds_tried: 64, outside: [] });
    expect(document.statistics.requests_per_s.recorded).toBeCloseTo(0.4166, 3);
    expect((await readWorkloadSpecFile(spec)).seed).toBe(document.seed);
  });

  it('prints a table, with the given seed and the statistics outside the tolerance', async () => {
    const few = join(folder, 'few.jsonl');
    const line = (ms: number, tokens: number) =>
      `{"timestamp": ${ms}, "input_length": ${tokens}, "output_length": 5, "hash_ids": []}\n`;
    writeFileSync(few, [0, 900, 2500, 2600, 7000].map((ms, i) => line(ms, 100 + i * i * 77)).join(''));
    const { code, stdout } = await twinyard(['trace', 'fit', few, '--seed', '3', '--format', 'table']);
    const lines = stdout.trimEnd().split('\n');
    expect(code).toBe(0);
    expect(lines[0]).toMatch(/few\.jsonl: 5 requests recorded, \d+ regenerated with seed 3$/);
    expect(lines[2]).toMatch(/^ +recorded +regenerated +difference$/);
    expect(lines[3]).toMatch(/^mean rate +0\.571 \/s /);
    expect(lines.filter((text) => text.startsWith('output'))).toHaveLength(4);
    expect(lines.at(-1)).toMatch(/^Outside 5 %: .*input, p50/);
  });

  it('reports when all statistics are within the tolerance', async () => {
    const { stdout } = await twinyard(['trace', 'fit', agents, '--format', 'table']);
    expect(stdout).toContain('64 seeds');
    expect(stdout.trimEnd().endsWith('All within 5 %.')).toBe(true);
  });

  it('prints its help', async () => {
    expect((await twinyard('trace fit --help')).stdout).toContain('twinyard trace fit FILE [flags]');
  });

  it('refuses what it cannot fit, and writes nothing', async () => {
    const one = join(folder, 'one.jsonl');
    writeFileSync(one, '{"timestamp": 5, "input_length": 9, "output_length": 5, "hash_ids": []}\n');
    const spec = join(folder, 'one.yaml');
    const { code, stdout, stderr } = await twinyard(['trace', 'fit', one, '-o', spec]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('one.jsonl:1');
    expect(stderr).toContain('all requests arrive at the same time');
    expect(existsSync(spec)).toBe(false);
  });

  it('does not write over the trace', async () => {
    const before = readFileSync(agents, 'utf8');
    const { code, stderr } = await twinyard(['trace', 'fit', agents, '-o', agents]);
    expect(code).toBe(2);
    expect(stderr).toContain('would overwrite');
    expect(readFileSync(agents, 'utf8')).toBe(before);
  });
});
