import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelSpec } from '../../src/replica/catalogue/contract.js';
import { PromptKeys } from '../../src/workload/prompt-keys.js';
import type { MeasuredRun } from './measured-run.js';

/** Its names of GPUs. An unknown one is passed on in lower case, for it to reject. */
const SYSTEMS: Record<string, string> = {
  H100: 'h100_sxm',
  H200: 'h200_sxm',
  'A100-80': 'a100_sxm',
  L40S: 'l40s',
  'RTX-PRO-6000': 'rtx_pro_6000_server',
};

/** Writes what AISimulate needs to predict a run into a folder: model, trace, and the configuration, whose path it returns. */
export function writeAisimulateInput(run: MeasuredRun, folder: string): string {
  const model = join(folder, 'model');
  const trace = join(folder, 'trace.jsonl');
  const config = join(folder, 'config.yaml');
  mkdirSync(model);
  writeFileSync(join(model, 'config.json'), JSON.stringify(modelConfig(run)));
  writeFileSync(trace, mooncakeTrace(run));
  writeFileSync(config, JSON.stringify(predictionConfig(run, model, trace)));
  return config;
}

/** The run's model as a Hugging Face configuration: most of the models are not bundled with it, and it accepts dimensions. */
function modelConfig({ model, engine }: MeasuredRun) {
  const [architecture, type] = architectureOf(model);
  return {
    architectures: [architecture],
    model_type: type,
    num_hidden_layers: model.layers,
    hidden_size: model.hidden,
    num_attention_heads: model.heads,
    num_key_value_heads: model.kvHeads,
    head_dim: model.headDim ?? model.hidden / model.heads,
    intermediate_size: model.intermediate,
    vocab_size: model.vocab,
    max_position_embeddings: Math.max(model.maxContext, engine.maxModelLen),
    tie_word_embeddings: model.tiedEmbeddings,
    hidden_act: model.activation,
    torch_dtype: 'bfloat16',
    ...(model.experts > 0 ? { num_local_experts: model.experts, num_experts_per_tok: model.expertsPerToken } : {}),
  };
}

function architectureOf({ name, experts }: ModelSpec): [architecture: string, type: string] {
  if (experts > 0) return ['MixtralForCausalLM', 'mixtral'];
  return /qwen3/i.test(name) ? ['Qwen3ForCausalLM', 'qwen3'] : ['LlamaForCausalLM', 'llama'];
}

function predictionConfig(
  { model: { experts }, gpu, tp, engine, maxInFlight }: MeasuredRun,
  model: string,
  trace: string,
) {
  return {
    traffic: {
      source: { type: 'trace', paths: [trace], format: 'mooncake', block_size: engine.blockSize },
      load: { type: 'trace_timestamps' },
    },
    engine: {
      mode: 'aggregated',
      model,
      hardware: SYSTEMS[gpu.name] ?? gpu.name.toLowerCase(),
      backend: 'vllm',
      context_length: engine.maxModelLen,
      workers: {
        aggregated: {
          parallelism: { tensor: tp, ...(experts > 0 ? { moe_tensor: tp } : {}) },
          scheduler: {
            max_batched_tokens: engine.maxNumBatchedTokens,
            max_sequences: Math.min(engine.maxNumSeqs, maxInFlight),
          },
          kv_cache: {
            block_size: engine.blockSize,
            prefix_caching: true,
            capacity: { type: 'fixed', blocks: engine.totalKvBlocks },
          },
        },
      },
    },
  };
}

function mooncakeTrace({ table, engine }: MeasuredRun): string {
  const keys = new PromptKeys(table, engine.blockSize);
  const lines: string[] = [];
  for (let row = 0; row < table.count; row++) {
    const full = new Int32Array(Math.floor(table.inputTokens[row]! / engine.blockSize));
    keys.fill(row, full.length, full);
    const request = {
      session_id: String(row),
      timestamp: table.arrivalUs[row]! / 1000,
      input_length: table.inputTokens[row]!,
      output_length: table.outputTokens[row]!,
      // A block that is not full is in no cache: 0 is no key.
      hash_ids: full.length * engine.blockSize < table.inputTokens[row]! ? [...full, 0] : [...full],
    };
    lines.push(JSON.stringify(request));
  }
  return `${lines.join('\n')}\n`;
}
