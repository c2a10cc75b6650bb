import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readNumberTable } from '../../src/observe/truth/number-table.js';
import type { ModelSpec } from '../../src/replica/catalogue/contract.js';
import { loadGpu } from '../../src/replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../src/replica/catalogue/model-catalogue.js';
import { type MeasuredRun, tableOf, VLLM } from './measured-run.js';

/** The number of different prompts that the client repeated. */
const PROMPTS = 100;
const WARM_UP = 50;

interface Experiment {
  experiment: string;
  profile: string;
  model: string;
  server: Record<'max_model_len' | 'max_num_seqs' | 'max_num_batched_tokens' | 'tensor_parallelism', string>;
  kv_blocks_gpu: number;
  resolved_shared_prefix: { output_len: number };
}

/** The 70B of the second generation is that of the third with a smaller vocabulary. */
function modelOf(name: string): ModelSpec {
  if (/llama-2-70b/i.test(name)) {
    const newer = loadModel('meta-llama/llama-3.1-70b-instruct');
    return { ...newer, name, vocab: 32_000, maxContext: 4096 };
  }
  return loadModel(name.toLowerCase());
}

/**
 * Four models on H100s. The recorded output lengths come from counting the tokens of the response's text again, which
 * loses tokens without text: E2E does not depend on them. Every response had the requested length.
 */
export function readBlis16(folder: string): MeasuredRun[] {
  const experiments: Experiment[] = JSON.parse(readFileSync(join(folder, 'experiments.json'), 'utf8'));
  return experiments.map(({ experiment, profile, model, server, kv_blocks_gpu, resolved_shared_prefix }) => {
    const path = join(folder, 'per_request', `${experiment}.csv`);
    const names = ['index', 'arrival_us', 'input_tokens', 'ttft_us', 'e2e_us'] as const;
    const { count, columns } = readNumberTable(path, names);
    const requests = Array.from({ length: count }, (_, i) => ({
      index: columns.index[i]!,
      arrivalUs: columns.arrival_us[i]!,
      inputTokens: columns.input_tokens[i]!,
      outputTokens: resolved_shared_prefix.output_len,
      ttftUs: columns.ttft_us[i]!,
      e2eUs: columns.e2e_us[i]!,
    }));
    return {
      set: `${model.split('/')[1]}, H100, vLLM 0.15`,
      name: profile,
      ...tableOf(requests, (table, row, { index, inputTokens }) => {
        const group = table.prefixGroups.index(`prompt ${index % PROMPTS}`);
        table.prefixGroup[row] = group;
        table.prefixTokens[group] = Math.max(table.prefixTokens[group] ?? 0, inputTokens);
      }),
      warmUp: WARM_UP,
      maxInFlight: Number.POSITIVE_INFINITY,
      model: modelOf(model),
      gpu: loadGpu('H100'),
      tp: Number(server.tensor_parallelism),
      engine: {
        ...VLLM,
        totalKvBlocks: kv_blocks_gpu,
        maxModelLen: Number(server.max_model_len),
        maxNumSeqs: Number(server.max_num_seqs),
        maxNumBatchedTokens: Number(server.max_num_batched_tokens),
      },
    };
  });
}
