import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunningEngine, startEngine } from '../../emulator/start-engine.js';
import { JumpingClock } from '../../emulator/virtual-clocks.fixture.js';
import { fakeServer, json, sendStream, stream } from '../../observe/drive/fake-server.fixture.js';
import type { ObservationDocument } from '../../observe/drive/observation.js';
import { fakeConfig, fakeLatency } from '../../replica/fake-replica.fixture.js';
import type { ResultDocument } from '../../simulator/result-document.js';
import { inTestFolder } from '../test-folder.fixture.js';
import { captured, type Ended } from '../test-io.fixture.js';

const MODEL = 'qwen/qwen3-14b';
const NEVER = new Promise<void>(() => {});
/** Lengths and times that a test can wait for. */
const SMALL =
  '--rate 1000 --num-requests 10 --prompt-tokens 40 --prompt-tokens-stdev 10 --output-tokens 4 --output-tokens-stdev 2 --max-lateness-ms 0';
let engine: RunningEngine;

inTestFolder(() => {});
beforeEach(async () => {
  engine = await startEngine({
    config: fakeConfig({ model: MODEL, totalKvBlocks: 5000, blockSize: 16, maxNumSeqs: 64, maxModelLen: 9000 }),
    latency: fakeLatency(),
    clock: new JumpingClock(),
  });
});
afterEach(() => engine.close());

function twinyard(args: string, terminal: Parameters<typeof captured>[1] = {}): Promise<Ended> {
  return captured(args, { stopped: NEVER, ...terminal });
}

function observe(args: string, terminal: Parameters<typeof captured>[1] = {}): Promise<Ended> {
  return twinyard(`observe --server-url ${engine.url} --model ${MODEL} ${args}`, terminal);
}

async function result(args: string): Promise<ObservationDocument> {
  const ended = await observe(args);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(ended.stdout);
}

describe('observe', () => {
  it('prints and writes the measurements', async () => {
    const outputs = '--trace-output seen --record-itl --scrape-kv-metrics --scrape-interval-ms 10 --rtt-ms 0.5';
    const document = await result(`${SMALL} ${outputs} --hardware H100 --tp 1 --max-num-seqs 64`);
    expect(document.requests).toMatchObject({ planned: 10, sent: 10, completed: 10, failed: 0 });
    expect(document.prompts.difference).toMatchObject({ compared: 10, exact: 10 });
    expect(readdirSync('.').sort()).toEqual(['seen.csv', 'seen.itl.csv', 'seen.metrics.csv', 'seen.yaml']);
    const header = readFileSync('seen.yaml', 'utf8');
    expect(header).toMatch(/^mode: real$/m);
    expect(header).toMatch(/^ {2}hardware: "H100"\n {2}tensor_parallel: 1\n {2}max_num_seqs: 64\n {2}block_size: 16$/m);
    expect(header).toMatch(/^ {2}measured_rtt_ms: 0.5$/m);
    expect(readFileSync('seen.csv', 'utf8').split('\n').length).toBe(12);
    const [names, first] = readFileSync('seen.itl.csv', 'utf8').split('\n');
    expect(names).toBe('request_id,chunk_index,timestamp_us');
    expect(first).toMatch(/^0,0,1\d{15}$/);
    expect(readFileSync('seen.metrics.csv', 'utf8')).toMatch(/^timestamp_us,requests_running,.*\n1\d{15},0,0,0,/);
  });

  it('writes a trace for replay, with the settings of the server', async () => {
    await result(`${SMALL} --trace-output seen --hardware H100 --tp 1`);
    const ended = await twinyard('replay --trace seen --log info');
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain(
      `as observed: --model ${MODEL} --hardware H100 --tp 1 --block-size-in-tokens 16 --gpu-memory-utilization 0.9 --total-kv-blocks 5000 --max-model-len 9000`,
    );
    const { cluster, config } = JSON.parse(ended.stdout) as ResultDocument;
    expect(cluster.completed_requests).toBe(10);
    expect(cluster.duration_s).toBeLessThan(60);
    expect(config.replica).toMatchObject({ model: MODEL, totalKvBlocks: 5000, maxModelLen: 9000 });
  });

  it('sends the requests that run would generate, under the same ids', async () => {
    await result(`${SMALL} --seed 7 --trace-output seen`);
    const args = SMALL.replace('--max-lateness-ms 0', '--seed 7 --trace-output ran');
    expect((await twinyard(`run --model ${MODEL} ${args}`)).code).toBe(0);
    const planned = (name: string) =>
      readFileSync(name, 'utf8')
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(','))
        .map((fields) => [fields[0], fields[9], fields[10], fields[19]].join(' '));
    expect(planned('seen.csv').sort()).toEqual(planned('ran.csv').sort());
  });

  it('sends the requests of a trace', async () => {
    const lines = [0, 1, 2].map((i) =>
      JSON.stringify({ timestamp: i, input_length: 600 + i, output_length: 3, hash_ids: [0, i] }),
    );
    writeFileSync('t.jsonl', lines.join('\n'));
    const document = await result('--trace t.jsonl --max-lateness-ms 0 --trace-header a.yaml --trace-data b.csv');
    expect(document.total_input_tokens).toBe(1803);
    expect(document.total_cached_tokens).toBeGreaterThan(0);
    expect(readFileSync('a.yaml', 'utf8')).toContain('block_tokens: 512\n');
    writeFileSync('b.yaml', readFileSync('a.yaml', 'utf8'));
    const again = await result('--trace b --max-lateness-ms 0 --api-format chat');
    expect(again).toMatchObject({ total_input_tokens: 1803, requests: { planned: 3, completed: 3 } });
  });

  it('keeps users busy', async () => {
    const users = SMALL.replace('--rate 1000', '--concurrency 2 --think-time-ms 1');
    const document = await result(`${users} --no-streaming --warmup-requests 2 --prewarm-duration 0.01`);
    expect(document.requests).toMatchObject({ planned: 10, sent: 10, warm_up: 2, recorded: 8 });
  });

  it('prints a table', async () => {
    const { code, stdout } = await observe(`${SMALL} --format table`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^qwen\/qwen3-14b at http:\/\/127\.0\.0\.1:\d+\n\nRequests {4}10 of 10 sent, 10 recorded/);
    expect(stdout).toContain('Prompts     100.0 % as long as planned, 0 to 0 tokens off, by tokenize');
    for (const title of [
      'first token',
      'between pieces',
      'whole request',
      'sent late by',
      'held by cap',
      'connecting',
    ]) {
      expect(stdout).toMatch(new RegExp(`^${title} +\\d`, 'm'));
    }
  });

  it('shows its progress on a terminal, and clears the line', async () => {
    const { stderr } = await observe(SMALL, { isTTY: true });
    expect(stderr).toMatch(/10 of 10 {2}0 in flight {2}TTFT p50\/p99 \d+\/\d+ ms {2}\d+ tokens\/s {2}late \d+\.\d ms/);
    expect(stderr.endsWith('\r\x1b[K')).toBe(true);
  });

  it('prints its help', async () => {
    const { code, stdout } = await twinyard('observe --help');
    expect(code).toBe(0);
    for (const title of ['Server', 'Requests', 'Load', 'Settings of the server', 'Output']) {
      expect(stdout).toMatch(new RegExp(`^${title}:$`, 'm'));
    }
  });
});

describe('observe without complete responses', () => {
  it('keeps what was measured when it is interrupted', async () => {
    const ended = await observe(`${SMALL} --trace-output seen --format table`, { stopped: Promise.resolve() });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('the observation is partial: it was broken off after 0 of 10 requests');
    expect(ended.stdout).toContain('Marked: it was broken off');
    expect(existsSync('seen.csv')).toBe(false);
  });

  it('fails when requests were sent late, after everything is written', async () => {
    const ended = await observe(
      `${SMALL.replace('--max-lateness-ms 0', '--max-lateness-ms 0.000001')} --trace-output seen`,
    );
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/the load was not the one planned: p99 of the driver's lateness is \d/);
    expect(readFileSync('seen.yaml', 'utf8')).toMatch(/^late: "p99 of the driver's lateness/m);
    const replayed = await twinyard('replay --trace seen');
    expect([replayed.code, replayed.stderr]).toEqual([0, expect.stringContaining('requests were sent late')]);
  });

  it('fails when no request got a response', async () => {
    const server = await fakeServer((_, response) => json(response, {}, 500));
    const ended = await twinyard(`observe --server-url ${server.url} --model tiny ${SMALL} --trace-output seen`);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toBe(`twinyard: ${server.url}: no request was completed: http_500 10\n`);
    expect(readFileSync('seen.csv', 'utf8')).toContain(',http_500\n');
  });

  it('fails when all was warm-up', async () => {
    const ended = await observe(`${SMALL} --warmup-requests 10 --trace-output seen`);
    expect([ended.code, ended.stderr]).toEqual([
      1,
      expect.stringContaining('nothing was measured: all requests were warm-up'),
    ]);
    expect(existsSync('seen.csv')).toBe(false);
  });

  it('fails when no request was due', async () => {
    writeFileSync('late.jsonl', '{"timestamp": 90, "input_length": 10, "output_length": 3, "hash_ids": [0]}');
    const ended = await observe('--trace late.jsonl --horizon 5');
    expect([ended.code, ended.stderr]).toEqual([
      1,
      expect.stringContaining('nothing was measured: no request was due'),
    ]);
  });

  it('warns of responses that differ from the plan', async () => {
    const server = await fakeServer((request, response, n) => {
      if (n === 0) json(response, {}, 503);
      else sendStream(response, stream(request, 1));
    });
    const ended = await twinyard(`observe --server-url ${server.url} --model tiny ${SMALL} --max-model-len 10`);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(/warning: 1 of 10 requests have no complete response; problems: .*http_503 1/);
    expect(ended.stderr).toContain('warning: 10 requests are longer than the server takes');
  });

  it('warns when the server does not count tokens, and when prompts are not as long as planned', async () => {
    const silent = await fakeServer((request, response) => sendStream(response, stream(request)), {
      '/v1/completions': ({ body }, response) => {
        if (body.stream !== true) json(response, { choices: [{ text: 'a' }] });
        else sendStream(response, `data: ${JSON.stringify({ choices: [{ text: 'a', finish_reason: 'stop' }] })}\n\n`);
      },
    });
    const assumed = await twinyard(`observe --server-url ${silent.url} --model tiny ${SMALL} --format table`);
    expect(assumed.code).toBe(0);
    expect(assumed.stderr).toContain('the server does not count tokens: each word counts as one');
    expect(assumed.stdout).toContain('Prompts     not counted, by assumed');
    const strange = await fakeServer((request, response) =>
      sendStream(response, stream(request).replace(/"prompt_tokens":/, '"prompt_tokens":1')),
    );
    const off = await twinyard(`observe --server-url ${strange.url} --model tiny ${SMALL}`);
    expect(off.stderr).toMatch(
      /only 0 of 10 prompts are as long as planned: \d+ to \d+ tokens off, \d+\.\d on average/,
    );
  });
});

describe('keys', () => {
  const asked = async (args: string, env: Record<string, string> = {}) => {
    const server = await fakeServer((request, response) => sendStream(response, stream(request)));
    const ended = await twinyard(`observe --server-url ${server.url} --model tiny ${SMALL} ${args}`, { env });
    expect(JSON.stringify(ended)).not.toContain('sk-secret');
    return server.requests[0]!.headers;
  };

  it('come from the flag or from the environment, and are never shown', async () => {
    expect((await asked('--api-key sk-secret-1')).authorization).toBe('Bearer sk-secret-1');
    expect((await asked('', { OPENAI_API_KEY: 'sk-secret-2' })).authorization).toBe('Bearer sk-secret-2');
    const both = { OPENAI_API_KEY: 'sk-secret-2', TWINYARD_API_KEY: 'sk-secret-3' };
    expect((await asked('', both)).authorization).toBe('Bearer sk-secret-3');
    expect(await asked('')).not.toHaveProperty('authorization');
  });

  it('may be any header', async () => {
    const args = ['--header', 'x-team: search', '--header', 'Authorization: Basic sk-secret'];
    const server = await fakeServer((request, response) => sendStream(response, stream(request)));
    const base = `observe --server-url ${server.url} --model tiny ${SMALL}`.split(' ');
    expect((await captured([...base, ...args], { stopped: NEVER })).code).toBe(0);
    expect(server.requests[0]!.headers).toMatchObject({ 'x-team': 'search', authorization: 'Basic sk-secret' });
  });
});
