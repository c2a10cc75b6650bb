import { describe, expect, it } from 'vitest';
import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { askedConfig } from '../../twin/whatif/asked-config.js';
import { onOtherGpu } from '../../twin/whatif/engines/other-gpu.js';
import type { RecordedFleet } from '../../twin/whatif/recorded-fleet.js';
import { SILENT } from '../diagnostics.js';
import { parseFlags } from '../flags/parse-flags.js';
import { testIo } from '../test-io.fixture.js';
import { openQuestion } from './open-question.js';
import { WHAT_IF } from './whatif.js';
import type { WhatIfFlags } from './whatif-flags.js';

const RECORDED = '--recording traffic.jsonl --model qwen/qwen3-14b --hardware H100 --tp 1 --max-num-seqs 32';
const FLEET = { routingUs: 200, trace: { observed: { served: { replicas: ['a', 'b', 'c', 'd'] } } } };

/** The cluster that a command simulates. */
async function simulated(args: string): Promise<ClusterConfig> {
  const flags = await parseFlags<WhatIfFlags>(WHAT_IF, `${RECORDED} ${args}`.split(' '));
  const { question } = await openQuestion(flags, testIo(), SILENT);
  const [asked] = question.alternatives;
  const { gpu } = asked!;
  const replica = gpu === undefined ? question.replica : onOtherGpu(question.replica, gpu, '--gpu');
  return askedConfig(question, FLEET as unknown as RecordedFleet, replica, asked!);
}

/** By path: what two configurations differ in, as the second has it. */
function differences(one: unknown, two: unknown, path = ''): Record<string, unknown> {
  if (Object.is(one, two)) return {};
  const isObject = (value: unknown) => typeof value === 'object' && value !== null;
  if (!isObject(one) || !isObject(two)) return { [path]: two };
  const [before, after] = [one as Record<string, unknown>, two as Record<string, unknown>];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const parts = keys.map((key) => differences(before[key], after[key], path === '' ? key : `${path}.${key}`));
  return Object.assign({}, ...parts);
}

describe('the simulated fleet differs from the recorded one only in', () => {
  it.each([
    ['the policy', '--policy lmetric', ['routing.policy', 'routing.options.tie_break', 'routing.options.block_size']],
    ['the number of replicas', '--policy round-robin --replicas 6', ['instances']],
    [
      'the GPU and the memory that it has',
      '--policy round-robin --gpu H200',
      ['replica.hardware', 'replica.totalKvBlocks'],
    ],
    [
      'admission',
      '--policy round-robin --admission token-bucket --admission-option capacity=5000 --admission-option refill_rate=900',
      ['admission.policy', 'admission.options.capacity', 'admission.options.refill_rate'],
    ],
    [
      'the queue',
      '--policy round-robin --flow-control --saturation-detector concurrency --max-concurrency 8',
      ['flowControl'],
    ],
  ])('%s', async (_, args, paths) => {
    const found = differences(await simulated('--policy round-robin'), await simulated(args));
    expect(Object.keys(found)).toEqual(paths);
  });

  it('options of the policy', async () => {
    const found = differences(
      await simulated('--policy lmetric'),
      await simulated('--policy lmetric --policy-option block_size=64 --policy-option tie_break=first'),
    );
    expect(found).toEqual({ 'routing.options.block_size': 64, 'routing.options.tie_break': 'first' });
  });

  it('refuses a GPU that step times cannot carry over to', async () => {
    const asked = (args: string) => simulated(`--policy round-robin ${args}`);
    await expect(asked('--gpu H999')).rejects.toMatchObject({ code: 'WHATIF_GPU', place: '--gpu' });
    await expect(asked('--gpu L4')).rejects.toThrow(/--gpu: .*needs .* GiB before any KV cache/);
  });
});
