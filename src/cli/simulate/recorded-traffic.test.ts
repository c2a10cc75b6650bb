import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ComparisonDocument } from '../../experiment/comparison/comparison.js';
import { RotatedLines } from '../../gateway/lines/rotated-lines.js';
import { recordedRequest } from '../../gateway/recording/recorder.fixture.js';
import { TrafficRecorder } from '../../gateway/recording/traffic-recorder.js';
import { BlockChain } from '../../gateway/request/prompt-blocks.js';
import { viewOf } from '../../protocol/json/byte-words.js';
import type { ResultDocument } from '../../simulator/result-document.js';
import { csv } from '../../workload/trace-v2/data/csv-text.fixture.js';
import { inTestFolder, silent } from '../test-folder.fixture.js';
import { captured as twinyard } from '../test-io.fixture.js';

const PROMPT = 'You are a helpful assistant that answers questions about gardens. '.repeat(30);
const FLEET = '--model qwen/qwen3-14b --num-instances 2';

/** A minute of a gateway: chats that share a beginning, one request that was refused, one for another model. */
inTestFolder(() => {
  const failed = (error: unknown) => {
    throw error;
  };
  const lines = new RotatedLines({ path: 'traffic.jsonl', maxBytes: 8000, files: 9, failed });
  const recorder = new TrafficRecorder({ lines, key: Buffer.alloc(32, 5), epochUs: 1_751_360_400_000_000 });
  const chain = new BlockChain();
  const record = (i: number, changes: object) => {
    const bytes = Buffer.from(`${PROMPT}This is chat ${i % 4}. ${'Then we talked about roses. '.repeat(i)}`);
    chain.start('m');
    chain.addBlocks(viewOf(bytes), bytes.length, 64);
    const arrivedUs = (i + 1) * 1_000_000;
    recorder.record(
      recordedRequest({
        session: `chat ${i % 4}`,
        keyId: 'k',
        tenant: i % 3 === 0 ? 'shop' : 'office',
        inputTokens: Math.ceil(bytes.length / 4),
        outputTokens: 20 + i,
        recordedBlocks: recorder.blocksOf(chain.words, chain.count),
        ...{ arrivedUs, dispatchedUs: arrivedUs + 90, firstTokenUs: arrivedUs + 30_000, endedUs: arrivedUs + 300_000 },
        ...changes,
      }),
    );
  };
  for (let i = 0; i < 20; i++) record(i, {});
  record(20, { model: 'other', isMetered: true });
  record(21, {
    status: 429,
    outcome: 'client_error',
    isMetered: false,
    firstTokenUs: -1,
    dispatchedUs: -1,
    replicaId: '',
  });
  recorder.close();
});

const warned = async (args: string) => {
  const { code, stderr, stdout } = await twinyard(args);
  expect(code).toBe(0);
  return { stdout, warnings: stderr.trimEnd().split('\n') };
};
const replayed = (text: string) => JSON.parse(text) as ResultDocument;

describe('recorded traffic', () => {
  it('is read like any other trace, rotated files included', async () => {
    expect(readdirSync('.')).toEqual(['traffic.jsonl', 'traffic.jsonl.1', 'traffic.jsonl.2']);
    const { stdout, warnings } = await warned('trace stats traffic.jsonl');
    expect(JSON.parse(stdout)).toMatchObject({
      format: 'traffic',
      requests: 22,
      duration_s: 21,
      chats: { count: 4, requests: 22 },
      recorded_blocks: { tokens: 16 },
      tenants: { office: 14, shop: 8 },
      slo_classes: { standard: 22 },
      clients: { 'qwen/qwen3-14b': 21, other: 1 },
    });
    expect(JSON.parse(stdout).prefix_reuse.infinite_cache.share).toBeGreaterThan(0.5);
    expect(warnings).toEqual([
      expect.stringContaining('traffic.jsonl: requests without a response: 1;'),
      expect.stringContaining(
        'traffic.jsonl: requests are for 2 models and are taken together: qwen/qwen3-14b (21), other (1)',
      ),
    ]);
    const part = JSON.parse(await silent('trace stats traffic.jsonl --trace-model qwen/qwen3-14b --trace-answered'));
    expect(part).toMatchObject({ requests: 20, clients: { 'qwen/qwen3-14b': 20 } });
  });

  it('is replayed, by either flag, whole or in part', async () => {
    const { stdout } = await warned(`replay --trace traffic.jsonl ${FLEET} --routing-policy weighted`);
    const { cluster, config, fairness } = replayed(stdout);
    expect(cluster).toMatchObject({ generated_requests: 22, completed_requests: 22 });
    expect(cluster.prompt_cache_hit_rate).toBeGreaterThan(0.3);
    expect(Object.keys(fairness!.tenants).sort()).toEqual(['office', 'shop']);
    expect(config.workload).toMatchObject({ traceFormat: 'traffic', traceData: 'traffic.jsonl' });
    expect((await warned(`replay --trace-data traffic.jsonl ${FLEET} --routing-policy weighted`)).stdout).toBe(stdout);

    const part = replayed(
      await silent(`replay --trace traffic.jsonl ${FLEET} --trace-model qwen/qwen3-14b --trace-answered`),
    );
    expect(part.cluster.generated_requests).toBe(20);
    expect(part.config.workload).toMatchObject({ tracePart: { model: 'qwen/qwen3-14b', answered: true } });
  });

  it('is replayed in a closed loop', async () => {
    const { stdout } = await warned(`replay --trace traffic.jsonl ${FLEET} --session-mode closed-loop`);
    expect(replayed(stdout)).toMatchObject({ cluster: { completed_requests: 22 }, sessions: { count: 4 } });
  });

  it('is compared', async () => {
    const args = `compare --trace traffic.jsonl ${FLEET} --routing-policy round-robin,weighted --no-cache --workers 1`;
    const measured = async (more: string): Promise<number[]> => {
      const { variants } = JSON.parse(await silent(`${args} ${more}`)) as ComparisonDocument;
      expect(variants.map(({ name }) => name)).toEqual(['round-robin', 'weighted']);
      return variants.map(({ metrics }) => metrics.prompt_cache_hit_rate!.mean);
    };
    const [dealt, found] = await measured('');
    expect(found).toBeGreaterThan(dealt!);
    expect(await measured('--trace-model other')).toEqual([0, 0]);
  });

  it('is converted with the times of its responses', async () => {
    await warned('convert traffic.jsonl --to trace-v2 -o morning.csv');
    const [header, first] = readFileSync('morning.csv', 'utf8')
      .split('\n')
      .map((row) => row.split(','));
    const seen = Object.fromEntries(header!.map((name, i) => [name, first![i]]));
    expect(seen).toMatchObject({ first_chunk_time_us: '30000', last_chunk_time_us: '300000', status: 'ok' });
    expect(readFileSync('morning.yaml', 'utf8')).toMatch(/mode: real\n[\s\S]*block_tokens: 16\n/);
    const { cluster } = replayed(await silent(`replay --trace morning ${FLEET} --routing-policy weighted`));
    expect(cluster.generated_requests).toBe(22);
    await silent('trace slice traffic.jsonl --trace-model other -o other.csv');
    expect(JSON.parse(await silent('trace stats other.csv'))).toMatchObject({ requests: 1, clients: { other: 1 } });
  });

  it.each([
    [
      'trace stats traffic.jsonl --trace-model ohter',
      "traffic.jsonl: no request is for the model 'ohter'; did you mean 'other'?",
    ],
    [`replay --trace moon.jsonl ${FLEET} --trace-answered`, 'moon.jsonl: mooncake traces do not record the model'],
    [`replay --trace day ${FLEET} --trace-model m`, 'day.csv: trace-v2 traces do not record the model'],
    [
      `compare --trace moon.jsonl ${FLEET} --routing-policy round-robin,weighted --trace-answered --no-cache --workers 1`,
      'moon.jsonl: mooncake traces do not record the model',
    ],
    [`replay --trace traffic.jsonl --trace-data traffic.jsonl ${FLEET}`, '--trace-data: --trace traffic.jsonl names'],
    ['trace slice traffic.jsonl -o out.csv', '--from: or another selection is required'],
    [`replay --trace traffic.jsonl ${FLEET} --metrics-path traffic.jsonl.2`, "would overwrite 'traffic.jsonl.2'"],
    ['trace stats traffic.jsonl --report traffic.jsonl.1', '--report:'],
    ['convert traffic.jsonl --to mooncake -o traffic.jsonl.1', "would overwrite 'traffic.jsonl.1'"],
  ])('%s', async (args, message) => {
    writeFileSync('moon.jsonl', '{"timestamp": 0, "input_length": 700, "output_length": 3, "hash_ids": [0, 1]}\n');
    writeFileSync('day.csv', csv([{}]));
    writeFileSync('day.yaml', 'mode: generated\n');
    const before = readFileSync('traffic.jsonl.1', 'utf8');
    const ended = await twinyard(args);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(`${message}`);
    expect(readFileSync('traffic.jsonl.1', 'utf8')).toBe(before);
    expect(existsSync('out.csv')).toBe(false);
  });
});
