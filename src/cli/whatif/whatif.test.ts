import { describe, expect, it } from 'vitest';
import { profileText } from '../../replica/latency/profile-file.js';
import { PROFILE, recordingOf, served } from '../../twin/whatif/recorded-run.fixture.js';
import { recordingFiles } from '../../twin/whatif/recording-files.fixture.js';
import type { WhatIfDocument } from '../../twin/whatif/whatif-document.js';
import { main } from '../program.js';
import { testIo, captured as twinyard } from '../test-io.fixture.js';

const file = recordingFiles();
const recording = file(
  'traffic.jsonl',
  recordingOf(served({ requests: 300 }, { routing: { policy: 'round-robin', options: {} } })),
);
const profile = file('profile.json', profileText(PROFILE));
const ENGINE = '--total-kv-blocks 2000 --max-num-seqs 32 --max-model-len 8192 --engine-rules vllm-v1';
const ask = (args: string) =>
  twinyard(`whatif --recording ${recording} --latency-profile ${profile} ${ENGINE} --runs 5 ${args}`);

describe('whatif', () => {
  it('prints the verdict first, how sure it is, and tables', async () => {
    const { code, stderr, stdout } = await ask('--policy lmetric --format table');
    expect([code, stderr]).toEqual([0, '']);
    const [verdict, sure, table, baseline] = stdout.split('\n\n');
    expect(verdict).toMatch(/^lmetric would have given TTFT mean/);
    expect(sure).toMatch(/^300 requests over .* on 4 replicas; profile: small engine \(given\)/);
    expect(table).toMatch(/was\s+lmetric\s+from\s+to\s+change/);
    expect(baseline).toMatch(/As recorded\s+measured\s+simulated\s+error/);
  });

  it('compares several policies and another number of replicas with one recording', async () => {
    const { stdout } = await ask('--policy lmetric,round-robin --policy-option block_size=64 --replicas 3');
    const { alternatives, recording: facts } = JSON.parse(stdout) as WhatIfDocument;
    expect(alternatives.map(({ name, routing }) => [name, routing.options.block_size])).toEqual([
      ['lmetric on 3 replicas', 64],
      ['round-robin on 3 replicas', undefined],
    ]);
    expect(facts).toMatchObject({ requests: 300, blockTokens: 16, sessions: 'fixed' });
  });

  it('simulates admission and the queue of the alternative', async () => {
    const { stdout } = await ask(
      '--policy round-robin --admission token-bucket --admission-option capacity=5000 --admission-option refill_rate=5000',
    );
    expect((JSON.parse(stdout) as WhatIfDocument).alternatives[0]!.rejected).toBeGreaterThan(0.1);
  });

  it('writes a row per metric as CSV', async () => {
    const { stdout } = await ask('--policy round-robin --format csv');
    const [head, first] = stdout.split('\n');
    expect(head).toBe('alternative,metric,was,predicted,low,high,claim,refused');
    expect(first).toMatch(/^round-robin,ttft_mean_ms,/);
  });

  it('ends on Ctrl-C with one line, and prints no part of a result', async () => {
    const io = testIo({ isTTY: true });
    const begun = new Promise<() => void | Promise<void>>((resolve) => {
      io.beforeSignal = resolve;
    });
    const line = `whatif --recording ${recording} --latency-profile ${profile} ${ENGINE} --runs 5 --policy lmetric`;
    const ended = main(line.split(' '), io);
    await (await begun)();
    expect([await ended, io.stdoutText()]).toEqual([130, '']);
    expect(io.stderrText().split('\x1b[K').at(-1)).toBe('twinyard: cancelled: no result is printed\n');
  });

  it.each([
    ['whatif --model qwen/qwen3-14b --policy lmetric', '--recording: or --gateway is required'],
    [
      `whatif --recording ${recording} --model qwen/qwen3-14b`,
      '--policy: is required: a recording does not say which policy decided',
    ],
    [
      `whatif --recording ${recording} --gateway http://localhost:1 --model qwen/qwen3-14b`,
      '--gateway: given together with --recording',
    ],
    [`whatif --recording ${recording} --model qwen/qwen3-14b --policy lmetrik`, "unknown routing policy 'lmetrik'"],
    [`whatif --recording ${recording} --model qwen/qwen3-14b --policy lmetric --policy-option size=1`, "'size'"],
    [
      `whatif --recording examples/traffic.jsonl --model qwen/qwen3-14b --policy lmetric`,
      'complete responses of replicas, and at least 200 are needed',
    ],
    [
      `whatif --recording ${recording} --model qwen/qwen3-14b --policy lmetric --endpoint nochat`,
      "no request is of the endpoint 'nochat'",
    ],
  ])('refuses %s', async (line, problem) => {
    const { code, stderr, stdout } = await twinyard(line);
    expect([code, stdout, stderr.includes(problem) ? '' : stderr]).toEqual([2, '', '']);
  });
});
