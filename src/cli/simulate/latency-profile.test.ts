import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import { profileText } from '../../replica/latency/profile-file.js';
import { inTestFolder, silent } from '../test-folder.fixture.js';
import { captured } from '../test-io.fixture.js';

const MEASURED = {
  ...fakeProfile(),
  name: 'ours',
  model: 'our/own-model',
  hardware: 'RTX 4090',
  scheduler: {
    engineRules: 'vllm-v1',
    blockSize: 32,
    totalKvBlocks: 500,
    maxModelLen: 4096,
    maxNumSeqs: 12,
    maxNumBatchedTokens: 700,
  },
};

inTestFolder(() => {
  writeFileSync('ours.json', profileText(MEASURED, { notes: [] }));
  writeFileSync('plain.json', profileText(fakeProfile()));
});

const RUN = 'run --num-requests 20 --rate 20 --prompt-tokens 100 --output-tokens 20';
const replicaOf = async (args: string) => JSON.parse(await silent(args)).config.replica;

describe('--latency-profile', () => {
  it('sets the step times and every setting that no flag sets, whether the model is in the catalogue or not', async () => {
    expect(await replicaOf(`${RUN} --latency-profile ours.json`)).toMatchObject({
      model: 'our/own-model',
      hardware: 'RTX 4090',
      tp: 1,
      latencyModel: 'profile',
      latencyProfile: { name: 'ours', step: MEASURED.step },
      engineRules: 'vllm-v1',
      blockSize: 32,
      totalKvBlocks: 500,
      maxModelLen: 4096,
      maxNumSeqs: 12,
      maxNumBatchedTokens: 700,
    });
  });

  it('lets flags override it', async () => {
    const flags = '--max-num-seqs 3 --total-kv-blocks 400 --engine-rules classic --block-size-in-tokens 16';
    const replica = await replicaOf(`${RUN} --latency-profile ours.json ${flags}`);
    expect(replica).toMatchObject({ maxNumSeqs: 3, totalKvBlocks: 400, blockSize: 16, maxNumBatchedTokens: 700 });
    expect(replica).not.toHaveProperty('engineRules');
  });

  it('takes from the catalogue what the profile does not set', async () => {
    const replica = await replicaOf(`${RUN} --latency-profile plain.json --latency-model profile`);
    expect(replica).toMatchObject({ model: 'qwen/qwen3-14b', hardware: 'H100', maxModelLen: 40_960, maxNumSeqs: 256 });
    expect(replica.totalKvBlocks).toBeGreaterThan(1000);
  });

  it('makes latencies: here a queueing time of 100 us and the step of the prompt', async () => {
    const cluster = async (args: string) => JSON.parse(await silent(`run --num-requests 1 ${args}`)).cluster;
    const one = '--prompt-tokens 49 --prompt-tokens-stdev 0 --output-tokens 1 --output-tokens-stdev 0';
    // 49 tokens: 2480; a request 32, attention 49, a prompt 16; and 5 for the token.
    const { ttft_mean_ms } = await cluster(
      `${one} --prompt-tokens-min 1 --output-tokens-min 1 --latency-profile plain.json`,
    );
    expect(ttft_mean_ms).toBeCloseTo((100 + 2480 + 32 + 49 + 16 + 5) / 1000, 9);
  });

  it('is part of a comparison as well', async () => {
    const { code, stdout, stderr } = await captured(
      `compare ${RUN.slice(4)} --latency-profile ours.json --routing-policy round-robin,least-loaded --format json`,
    );
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(stdout).toContain('least-loaded');
  });

  it('warns when the profile was measured on other hardware', async () => {
    const { code, stderr } = await captured(
      `${RUN} --latency-profile ours.json --model qwen/qwen3-14b --hardware L40S`,
    );
    expect(code).toBe(0);
    expect(stderr).toContain("--model qwen/qwen3-14b: the profile 'ours' was measured with our/own-model");
    expect(stderr).toContain("--hardware L40S: the profile 'ours' was measured with RTX 4090");
  });

  it.each([
    ['--latency-profile gone.json', 'gone.json: cannot be read (no such file)'],
    ['--latency-profile ours.json --latency-model roofline', '--latency-model: the profile says what steps take'],
    ['--latency-profile ours.json --dp 2', '--dp: the profile says what steps take'],
    ['--latency-profile ours.json --tp 2', "--tp: the profile 'ours' was measured with 1"],
    ['--latency-model profile --model qwen/qwen3-14b', "--latency-model: 'profile' has no step times of its own"],
    ['--engine-rules vllm --model qwen/qwen3-14b', "--engine-rules: 'vllm' is not known; known: classic, vllm-v1"],
  ])('refuses %s', async (args, message) => {
    const { code, stderr } = await captured(`${RUN} ${args}`);
    expect([code, stderr.split('\n')[0]]).toEqual([2, expect.stringContaining(message)]);
  });
});
