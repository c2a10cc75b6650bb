import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StepRun } from '../../src/observe/fit/steps/fit-step-runs.js';
import { readH200Run } from '../../src/observe/truth/h200-run.js';
import { readH200Steps, readH200StepTable } from '../../src/observe/truth/h200-steps.js';
import type { ModelSpec } from '../../src/replica/catalogue/contract.js';
import { loadGpu } from '../../src/replica/catalogue/gpu-catalogue.js';
import type { MeasuredRun } from './measured-run.js';

/** A model on our own engine: its runs, and the steps that its profile is fitted on. */
export interface H200Model {
  name: string;
  runs: (MeasuredRun & { cachedTokens: Float64Array; preemptions: number })[];
  steps: StepRun[];
}

/** Our own measurements are part of the project. */
const FOLDER = fileURLToPath(new URL('../../../test/fidelity', import.meta.url));

type Dimensions = Pick<
  ModelSpec,
  'layers' | 'hidden' | 'heads' | 'kvHeads' | 'intermediate' | 'vocab' | 'tiedEmbeddings'
>;

const DIMENSIONS: Record<string, Dimensions> = {
  'llama3.2-3b': {
    ...{ layers: 28, hidden: 3072, heads: 24, kvHeads: 8, intermediate: 8192, vocab: 128_256 },
    tiedEmbeddings: true,
  },
  'qwen3-8b': {
    ...{ layers: 36, hidden: 4096, heads: 32, kvHeads: 8, intermediate: 12_288, vocab: 151_936 },
    tiedEmbeddings: false,
  },
};

export function readH200(): H200Model[] {
  return Object.keys(DIMENSIONS).map((name) => {
    const folder = join(FOLDER, name);
    const runs: Record<string, { kv_blocks: number }> = JSON.parse(readFileSync(join(folder, 'runs.json'), 'utf8'));
    return {
      name,
      runs: Object.entries(runs).map(([run, { kv_blocks }]) => ({
        ...readH200Run(run, join(folder, `${run}.csv.gz`), kv_blocks),
        set: `${name}, H200, own engine`,
        model: h200ModelSpec(name),
        gpu: loadGpu('H200'),
        tp: 1,
      })),
      steps: [
        { name: 'step table', samples: readH200StepTable(join(folder, 'step_table.csv.gz')) },
        { name: 'r60', samples: readH200Steps(join(folder, 'r60-steps.csv.gz')) },
      ],
    };
  });
}

export function h200ModelSpec(name: string): ModelSpec {
  const given = DIMENSIONS[name]!;
  return {
    ...given,
    name,
    headDim: 128,
    bytesPerParam: 2,
    weightBytesPerParam: 2,
    experts: 0,
    expertsPerToken: 0,
    moeIntermediate: 0,
    denseIntermediate: given.intermediate,
    sharedExpertIntermediate: 0,
    interleave: 0,
    firstDense: 0,
    kvLoraRank: 0,
    qkRopeHeadDim: 0,
    activation: 'silu',
    maxContext: 8448,
  };
}
