import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

export function readH200(folder: string): H200Model[] {
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'config.json')))
    .map((name) => {
      const at = join(folder, name);
      const model = modelOf(JSON.parse(readFileSync(join(at, 'config.json'), 'utf8')).model);
      const runs = readdirSync(at).filter((run) => existsSync(join(at, run, 'run.json')));
      return {
        name,
        runs: runs.map((run) => {
          const { kv_blocks } = JSON.parse(readFileSync(join(at, run, 'run.json'), 'utf8'));
          const read = readH200Run(run, join(at, run, 'requests.csv'), kv_blocks);
          return { ...read, set: `${name}, H200, own engine`, model, gpu: loadGpu('H200') };
        }),
        steps: [
          { name: 'step table', samples: readH200StepTable(join(at, 'step_table.csv')) },
          { name: 'r60', samples: readH200Steps(join(at, 'r60', 'steps.csv.gz')) },
        ],
      };
    });
}

interface Dimensions {
  name: string;
  layers: number;
  hidden: number;
  heads: number;
  kv_heads: number;
  head_dim: number;
  intermediate: number;
  vocab: number;
  tied: boolean;
}

function modelOf(given: Dimensions): ModelSpec {
  return {
    name: given.name,
    layers: given.layers,
    hidden: given.hidden,
    heads: given.heads,
    kvHeads: given.kv_heads,
    headDim: given.head_dim,
    intermediate: given.intermediate,
    vocab: given.vocab,
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
    tiedEmbeddings: given.tied,
    activation: 'silu',
    maxContext: 8448,
  };
}
