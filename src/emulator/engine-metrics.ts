import { Exposition, labelText, labelTexts } from '../protocol/prometheus/exposition.js';
import { Histogram } from '../protocol/prometheus/histogram.js';
import type { ReplicaModelConfig } from '../replica/replica-model-config.js';
import type { EmulatedReplica } from './emulated-replica.js';

const TTFT_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
];
const TOKEN_SECONDS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];
const REQUEST_SECONDS = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680];

export type Ending = 'stop' | 'length' | 'abort' | 'error';

/** What `GET /metrics` shows, under vLLM's names and in vLLM's bins. Times are those of the model. */
export class EngineMetrics {
  readonly ttft = new Histogram(TTFT_SECONDS);
  readonly interToken = new Histogram(TOKEN_SECONDS);
  readonly perOutputToken = new Histogram(TOKEN_SECONDS);
  readonly e2e = new Histogram(REQUEST_SECONDS);
  readonly queue = new Histogram(REQUEST_SECONDS);
  readonly inference = new Histogram(REQUEST_SECONDS);
  readonly prefill = new Histogram(REQUEST_SECONDS);
  readonly decode = new Histogram(REQUEST_SECONDS);
  readonly promptTokens: Histogram;
  readonly generationTokens: Histogram;
  readonly maxTokens: Histogram;
  readonly choices = new Histogram([1, 2, 5, 10, 20]);
  readonly endings: Record<Ending, number> = { stop: 0, length: 0, abort: 0, error: 0 };
  /** Tokens of prompts whose first output token is generated, and output tokens. */
  promptTokensDone = 0;
  tokensOut = 0;

  readonly #config: ReplicaModelConfig;
  readonly #modelName: string;
  readonly #live: EmulatedReplica;

  constructor(config: ReplicaModelConfig, modelName: string, live: EmulatedReplica) {
    this.#config = config;
    this.#modelName = modelName;
    this.#live = live;
    this.promptTokens = new Histogram(oneTwoFive(config.maxModelLen));
    this.generationTokens = new Histogram(oneTwoFive(config.maxModelLen));
    this.maxTokens = new Histogram(oneTwoFive(config.maxModelLen));
  }

  get kvUsage(): number {
    const { kv, reports } = this.#live.replica;
    return reports.usedBlocks / kv.pool.total;
  }

  text(): string {
    const { replica } = this.#live;
    const out = new Exposition(labelTexts({ engine: '0', model_name: this.#modelName }));
    const gauge = (name: string, help: string, value: number, labels = '') =>
      out.single({ name: `vllm:${name}`, type: 'gauge', help }, value, labels);
    const counter = (name: string, help: string, value: number) =>
      out.single({ name: `vllm:${name}_total`, type: 'counter', help }, value);
    const histogram = (name: string, help: string, rows: Histogram) => {
      out.family({ name: `vllm:${name}`, type: 'histogram', help });
      rows.writeTo(out, '', 0, { boundText });
    };
    gauge('num_requests_running', 'Number of requests in model execution batches.', replica.reports.running);
    gauge('num_requests_waiting', 'Number of requests waiting to be processed.', replica.queueDepth);
    gauge('kv_cache_usage_perc', 'KV-cache usage. 1 means 100 percent usage.', this.kvUsage);
    const { cachedPromptTokens, preemptions, promptTokens } = replica;
    counter('prefix_cache_queries', 'Prefix cache queries, in terms of number of queried tokens.', promptTokens);
    counter('prefix_cache_hits', 'Prefix cache hits, in terms of number of cached tokens.', cachedPromptTokens);
    counter('num_preemptions', 'Cumulative number of preemptions.', preemptions);
    counter('prompt_tokens', 'Number of prefill tokens processed.', this.promptTokensDone);
    counter('generation_tokens', 'Number of generation tokens processed.', this.tokensOut);
    out.family({ name: 'vllm:request_success_total', type: 'counter', help: 'Count of processed requests.' });
    for (const [reason, count] of Object.entries(this.endings)) out.sample(labelText('finished_reason', reason), count);
    histogram('request_prompt_tokens', 'Prefill tokens of a request.', this.promptTokens);
    histogram('request_generation_tokens', 'Generation tokens of a request.', this.generationTokens);
    histogram('request_params_n', 'The n parameter of a request.', this.choices);
    histogram('request_params_max_tokens', 'The max_tokens parameter of a request.', this.maxTokens);
    histogram('time_to_first_token_seconds', 'Time to first token in seconds.', this.ttft);
    histogram('inter_token_latency_seconds', 'Inter-token latency in seconds.', this.interToken);
    const perToken = 'Time per output token of a request in seconds.';
    histogram('request_time_per_output_token_seconds', perToken, this.perOutputToken);
    histogram('e2e_request_latency_seconds', 'End-to-end latency in seconds.', this.e2e);
    histogram('request_queue_time_seconds', 'Time spent waiting.', this.queue);
    histogram('request_inference_time_seconds', 'Time spent running.', this.inference);
    histogram('request_prefill_time_seconds', 'Time spent on the prompt.', this.prefill);
    histogram('request_decode_time_seconds', 'Time spent on the output.', this.decode);
    gauge('cache_config_info', 'Information of the LLMEngine CacheConfig', 1, this.#cacheLabels());
    return out.text();
  }

  #cacheLabels(): string {
    return labelTexts({
      block_size: String(this.#config.blockSize),
      num_gpu_blocks: String(this.#config.totalKvBlocks),
      gpu_memory_utilization: String(this.#config.gpuMemoryUtilization),
      enable_prefix_caching: 'True',
      cache_dtype: 'auto',
      prefix_caching_hash_algo: 'builtin',
    });
  }
}

/** As vLLM writes it: Python prints a whole float with its decimal point. */
function boundText(bound: number): string {
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

/** 1, 2, 5, 10, 20, 50 and so on, up to a limit. */
export function oneTwoFive(most: number): number[] {
  const bounds: number[] = [];
  for (let power = 1; power <= most; power *= 10) {
    for (const step of [1, 2, 5]) if (step * power <= most) bounds.push(step * power);
  }
  return bounds;
}
