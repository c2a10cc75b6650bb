import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readAnyTrace } from '../../workload/formats/read-any-trace.js';
import { captured as twinyard } from '../test-io.fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-synth-'));
afterAll(() => rmSync(folder, { recursive: true }));
const synth = (...args: string[]) => twinyard(['convert', 'synth', 'agentic-coder', ...args]);

describe('convert synth agentic-coder', () => {
  it('writes Bailian lines and compares with what is published on stderr', async () => {
    const path = join(folder, 'agents.jsonl');
    const { code, stdout, stderr } = await synth('-o', path);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr.split('\n').map((line) => line.trimEnd())).toEqual([
      '                       published  generated  difference',
      'requests                   1,214      1,214       0.0 %',
      'sessions                     274        274       0.0 %',
      'duration                 2,912 s    2,912 s       0.0 %',
      'input, mean             33,600.0   33,600.0       0.0 %',
      'output, mean               445.0      445.0       0.0 %',
      'tokens of prompts         98.0 %     98.7 %      +0.7 %',
      'reuse inside sessions     91.0 %     91.0 %       0.0 %',
      'turns, p90                     1          1       0.0 %',
      'turns, p99                    18         18       0.0 %',
      'turns, max                 3,091        519     -83.2 %',
      'tokens of prompts: the published means give 98.7 %',
      'turns, max: published for the full trace, not for the sample',
      'twinyard: warning: Bailian has no place for think times: left out',
      '',
    ]);
    const trace = await readAnyTrace(path);
    expect([trace.format, trace.table.count, trace.table.sessions.size]).toEqual(['bailian', 1214, 275]);
  });

  it('goes to stdout too', async () => {
    const { code, stdout } = await synth('--to', 'bailian', '--seed', '7');
    expect(code).toBe(0);
    expect(stdout.split('\n')).toHaveLength(1215);
  });

  it('writes other formats', async () => {
    const mooncake = join(folder, 'agents-mooncake.jsonl');
    expect((await synth('-o', mooncake, '--to', 'mooncake')).code).toBe(0);
    expect((await readAnyTrace(mooncake)).format).toBe('mooncake');
    const traceV2 = join(folder, 'agents.csv');
    expect((await synth('-o', traceV2)).code).toBe(0);
    const { table, thinkTimeUs } = await readAnyTrace(traceV2);
    expect(table.count).toBe(1214);
    expect(thinkTimeUs!.some((us) => us > 0)).toBe(true);
  });

  it('generates other sizes', async () => {
    const path = join(folder, 'more.jsonl');
    expect((await synth('--requests', '2000', '--sessions', '400', '--duration', '3600', '-o', path)).code).toBe(0);
    const { table } = await readAnyTrace(path);
    expect([table.count, table.sessions.size - 1, table.arrivalUs[1999]]).toEqual([2000, 400, 3_600_000_000]);
  });

  it.each([
    [['--sessions', '50'], '--sessions', 'no 99th percentile'],
    [['--requests', '300'], '--requests', 'too few'],
    [['--duration', '60'], '--duration', 'less than a second'],
  ])('refuses %j', async (args, flag, problem) => {
    const { code, stderr } = await synth(...args, '--to', 'bailian');
    expect(code).toBe(2);
    expect(stderr).toContain(`${flag}: `);
    expect(stderr).toContain(problem);
  });

  it('lists the traces that can be generated', async () => {
    const { code, stderr } = await twinyard('convert synth agentic --to bailian');
    expect(code).toBe(2);
    expect(stderr).toContain('known: agentic-coder');
  });

  it('writes only sessions with blocks as Bailian', async () => {
    const path = join(folder, 'plain.jsonl');
    expect((await synth('-o', path, '--to', 'mooncake')).code).toBe(0);
    const { code, stderr } = await twinyard(['convert', path, '--to', 'bailian', '-o', join(folder, 'x.jsonl')]);
    expect(code).toBe(2);
    expect(stderr).toContain('the trace lacks the session or the blocks');
    const bailian = join(folder, 'agents.jsonl');
    const again = join(folder, 'again.jsonl');
    expect((await twinyard(['convert', bailian, '--to', 'bailian', '-o', again])).code).toBe(0);
    expect(readFileSync(again, 'utf8')).toBe(readFileSync(bailian, 'utf8'));
  });
});
