import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ResultDocument } from '../simulator/result-document.js';
import type { CliIo } from './io.js';
import { main } from './program.js';
import { examplesIn, testIo, captured as twinyard } from './test-io.fixture.js';

/** Runs a command that must succeed without writing to stderr, and reads its result. */
async function result(args: string | readonly string[]): Promise<ResultDocument> {
  const ended = await twinyard(args);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(ended.stdout);
}

const RUN = 'run --model qwen/qwen3-14b --num-requests 20 --rate 20';
let folder: string;
let trace: string;
let replay: string;

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-'));
  trace = join(folder, 'trace');
  replay = `replay --model qwen/qwen3-14b --trace ${trace}`;
  expect((await twinyard(`${RUN} --trace-output ${trace}`)).code).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the program', () => {
  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    for (const args of ['version', '--version', '-v']) {
      expect(await twinyard(args)).toEqual({ code: 0, stdout: `twinyard ${version}\n`, stderr: '' });
    }
  });

  it.each([
    ['create -f x.yaml', "command 'create': does not exist; use 'twinyard apply'"],
    ['api-resources', "command 'api-resources': does not exist; kinds are listed by 'twinyard get --help'"],
    ['context use-context x', "command 'context use-context': does not exist; use 'twinyard context use'"],
    ['gte ep', "command 'gte': does not exist; did you mean 'get'?"],
  ])('says what to use instead of %s', async (args, message) => {
    const { code, stderr } = await twinyard(args);
    expect(code).toBe(2);
    expect(stderr).toContain(`twinyard: ${message}`);
  });

  it.each(['--help', '-h', 'help'])('lists its commands for %s', async (args) => {
    const { code, stdout, stderr } = await twinyard(args);
    expect([code, stderr]).toEqual([0, '']);
    for (const name of ['run', 'replay', 'version']) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  });

  it.each(['run --help', 'help run', 'run -h', 'run --model x --help'])(
    'prints the help of a command for %s',
    async (args) => {
      const { code, stdout, stderr } = await twinyard(args);
      expect([code, stderr]).toEqual([0, '']);
      for (const title of ['Cluster', 'Flow control', 'Instance', 'Workload', 'Output', 'Examples']) {
        expect(stdout).toMatch(new RegExp(`^${title}:$`, 'm'));
      }
      expect(stdout).toContain('power-of-two, session-hash');
    },
  );

  it('gives examples that work', async () => {
    const here = process.cwd();
    process.chdir(mkdtempSync(join(folder, 'examples-')));
    try {
      for (const command of ['run', 'replay']) {
        const { stdout } = await twinyard(`${command} --help`);
        const examples = examplesIn(stdout);
        expect(examples.length).toBeGreaterThan(1);
        for (const example of examples) {
          const ended = await twinyard(example);
          expect({ example, code: ended.code, stderr: ended.stderr }).toEqual({ example, code: 0, stderr: '' });
        }
      }
    } finally {
      process.chdir(here);
    }
  });

  it('reports internal errors as bugs', async () => {
    const broken = { write: () => {}, isTTY: false };
    const stderr: string[] = [];
    const io: CliIo = {
      ...testIo(),
      stdout: {
        write() {
          throw new TypeError('x is undefined\nat y');
        },
      },
      stderr: { ...broken, write: (text: string) => stderr.push(text) },
    };
    expect(await main(['version'], io)).toBe(1);
    expect(stderr.join('')).toBe(
      'twinyard: internal error: x is undefined at y; this is a bug, TWINYARD_DEBUG=1 prints the stack\n',
    );
    expect(await main(['version'], { ...io, env: { TWINYARD_DEBUG: '1' } })).toBe(1);
    expect(stderr.join('')).toContain('TypeError: x is undefined');
  });
});

describe('run', () => {
  it('limits admission with a token bucket, and loses no request', async () => {
    const { cluster, anomalies, config } = await result(
      'run --model qwen/qwen3-14b --num-instances 4 --rate 500 --num-requests 2000 --admission-policy token-bucket --token-bucket-capacity 10000 --token-bucket-refill-rate 1000',
    );
    expect(cluster.generated_requests).toBe(2000);
    expect(cluster.injected_requests + cluster.rejected_requests).toBe(2000);
    expect(cluster.rejected_requests).toBeGreaterThan(1000);
    expect(anomalies.rejections).toEqual({ 'insufficient tokens': cluster.rejected_requests });
    expect(config.admission).toEqual({ policy: 'token-bucket', options: { capacity: 10000, refill_rate: 1000 } });
  });

  it('summarises the decisions of weighted routing', async () => {
    const { decisions, config } = await result(
      'run --model qwen/qwen3-14b --num-instances 4 --rate 100 --num-requests 500 --routing-policy weighted --trace-level decisions --summarize-trace',
    );
    expect(decisions).toMatchObject({ total: 500, admitted: 500, rejected: 0, mean_regret: 0 });
    expect(Object.keys(decisions!.targets)).toEqual(['instance_0', 'instance_1', 'instance_2', 'instance_3']);
    expect(config.routing.options).toMatchObject({ scorers: 'prefix-affinity:3,queue-depth:2,kv-utilization:2' });
  });

  it('prints the same bytes every time, with the keys in their order', async () => {
    const args = `${RUN} --num-instances 3 --routing-policy weighted --routing-scorers prefix-affinity:3,queue-depth:2,kv-utilization:2`;
    const { stdout } = await twinyard(args);
    expect((await twinyard(args)).stdout).toBe(stdout);
    expect(Object.keys(JSON.parse(stdout))).toEqual([
      'cluster',
      'instances',
      'slo',
      'fairness',
      'anomalies',
      'saturation',
      'latency',
      'config',
    ]);
    expect(stdout.endsWith('}\n')).toBe(true);
  });

  it('depends on its seed', async () => {
    const args = `${RUN} --seed`;
    expect((await result(`${args} 1`)).cluster.total_input_tokens).not.toBe(
      (await result(`${args} 2`)).cluster.total_input_tokens,
    );
  });

  it('includes its configuration in the result', async () => {
    const { config } = await result(
      'run --model Qwen/Qwen3-14B --workload chatbot --rate 5 --num-requests 3 --timeout -1',
    );
    expect(config).toMatchObject({
      instances: 1,
      seed: 42,
      horizonUs: null,
      replica: { model: 'qwen/qwen3-14b', hardware: 'H100', tp: 1, totalKvBlocks: 15909, maxModelLen: 40960 },
      workload: { command: 'run', client: 'chatbot', rate: 5, numRequests: 3, timeout: -1, prompt: { mean: 256 } },
    });
  });

  it('lets a fixed number of clients wait for their responses', async () => {
    const { cluster } = await result('run --model qwen/qwen3-14b --concurrency 2 --think-time-ms 50 --num-requests 10');
    expect(cluster).toMatchObject({ generated_requests: 10, completed_requests: 10 });
  });

  it('measures goodput and fitness on request', async () => {
    const { goodput, fitness } = await result(
      `${RUN} --slo-ttft default=1s --slo-e2e default=1us --fitness-weights throughput:0.7,p99_ttft:0.3`,
    );
    expect(goodput!.per_class.default!.slo_attainment_by_dim).toEqual({ ttft: 1, e2e: 0 });
    expect(Object.keys(fitness!.terms)).toEqual(['p99_ttft', 'throughput']);
  });

  it('prints a table instead of JSON, in colour only on a terminal', async () => {
    const plain = await twinyard(`${RUN} --format table`);
    expect(plain.stdout).toMatch(/^qwen\/qwen3-14b on H100, tp 1, 1 instance\n/);
    expect(plain.stdout).not.toContain('\x1b');
    expect((await twinyard(`${RUN} --format table`, { isTTY: true })).stdout).toContain('\x1b[1m');
    const refused = await twinyard(`${RUN} --format table`, { isTTY: true, env: { NO_COLOR: '1' } });
    expect(refused.stdout).toBe(plain.stdout);
  });

  it('writes the files that flags name', async () => {
    const at = (name: string) => join(folder, name);
    const args = `${RUN} --trace-level decisions --metrics-path ${at('m.json')} --results-path ${at('r.json')} --decisions-path ${at('d.jsonl')}`;
    const { requests: _none, ...document } = await result(args);
    const { requests, ...same } = JSON.parse(readFileSync(at('m.json'), 'utf8'));
    expect(same).toEqual(document);
    expect(requests).toHaveLength(20);
    expect(requests[0]).toMatchObject({
      request_id: 'request_0',
      instance: 'instance_0',
      status: 'completed',
      arrival_us: 50000,
    });
    expect(JSON.parse(readFileSync(at('r.json'), 'utf8'))).toEqual(requests);
    const decisions = readFileSync(at('d.jsonl'), 'utf8').trimEnd().split('\n');
    expect(decisions.map((line) => JSON.parse(line).request_id)).toEqual(
      requests.map((r: { request_id: string }) => r.request_id),
    );
  });

  it('accepts the other names of its flags', async () => {
    // So few seats saturate the replica, which is warned about.
    const { stdout } = await twinyard(`${RUN} --max-num-running-reqs 7 --max-num-scheduled-tokens 99`);
    const { config } = JSON.parse(stdout);
    expect(config.replica).toMatchObject({ maxNumSeqs: 7, maxNumBatchedTokens: 99 });
  });
});

describe('replay', () => {
  it('repeats the result of the run that wrote the trace', async () => {
    const { cluster, instances } = await result(RUN);
    expect(await result(replay)).toMatchObject({ cluster, instances });
    const files = `replay --model qwen/qwen3-14b --trace-header ${trace}.yaml --trace-data ${trace}.csv`;
    const { config } = await result(files);
    expect(config.workload).toEqual({
      command: 'replay',
      traceFormat: 'trace-v2',
      traceHeader: `${trace}.yaml`,
      traceData: `${trace}.csv`,
      sessionMode: 'fixed',
    });
  });

  it('accepts every flag of a decision study', async () => {
    const args = `${replay} --horizon 100000000000 --num-instances 3 --snapshot-refresh-interval 50000 --cache-signal-delay 50000 --routing-policy round-robin --trace-level decisions --counterfactual-k 4 --summarize-trace`;
    const { config, decisions } = await result(args);
    expect(config).toMatchObject({
      horizonUs: 1e11,
      snapshotRefreshUs: 50000,
      cacheSignalDelayUs: 50000,
      counterfactualK: 4,
    });
    expect(decisions!.total).toBe(20);
  });

  it('holds requests in a gateway queue', async () => {
    const args = `${replay} --num-instances 2 --routing-policy least-loaded --flow-control --saturation-detector concurrency --max-concurrency 16 --dispatch-order slo-deadline --slo-targets critical=100000,batch=5000000`;
    const { config } = await result(`${args} --log error`);
    expect(config.flowControl).toMatchObject({
      saturationDetector: 'concurrency',
      maxConcurrency: 16,
      sloTargetsUs: { critical: 100000, batch: 5000000 },
    });
  });

  it('replays sessions in a closed loop', async () => {
    const rows = readFileSync(`${trace}.csv`, 'utf8').split('\n');
    const chat = rows.map((row, i) =>
      i === 0 || row === '' ? row : row.replace(/^(\d+,distribution,,,),0/, `$1s0,${i - 1}`),
    );
    file('chat.csv', chat.join('\n'));
    file('chat.yaml', readFileSync(`${trace}.yaml`, 'utf8'));
    const args = `replay --model qwen/qwen3-14b --trace ${join(folder, 'chat')} --session-mode closed-loop --think-time-ms 20`;
    const { cluster, sessions, config } = await result(args);
    expect(cluster.completed_requests).toBe(20);
    expect(sessions!.count).toBe(1);
    expect(config.workload).toMatchObject({ sessionMode: 'closed-loop', thinkTimeMs: 20 });
  });

  it("takes goodput targets from the trace's header unless flags set others", async () => {
    file('slo.csv', readFileSync(`${trace}.csv`, 'utf8'));
    file(
      'slo.yaml',
      `${readFileSync(`${trace}.yaml`, 'utf8')}goodput_slo_targets: {default: {ttft_ms: 100, e2e_ms: 7}}\n`,
    );
    const { config } = await result(
      `replay --model qwen/qwen3-14b --trace ${join(folder, 'slo')} --slo-ttft default=1ms,gold=2ms --log error`,
    );
    expect(config.goodputTargets).toEqual({ default: { ttftUs: 1000, e2eUs: 7000 }, gold: { ttftUs: 2000 } });
  });

  it('warns when a trace is not sorted, unless --log is silent', async () => {
    const [head, ...rows] = readFileSync(`${trace}.csv`, 'utf8').trimEnd().split('\n');
    file('mixed.csv', `${[head, ...rows.reverse()].join('\n')}\n`);
    file('mixed.yaml', readFileSync(`${trace}.yaml`, 'utf8'));
    const args = `replay --model qwen/qwen3-14b --trace ${join(folder, 'mixed')}`;
    const { code, stderr } = await twinyard(args);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^twinyard: warning: .*mixed\.csv: requests are not in order of arrival/);
    expect((await twinyard(`${args} --log silent`)).stderr).toBe('');
  });
});
