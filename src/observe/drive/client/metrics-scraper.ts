import { readSamples } from '../../../protocol/prometheus/read-samples.js';
import type { ServerClient } from './server-client.js';

/** What is kept of a server's metrics, by the names of vLLM, its older ones, SGLang and llama.cpp. */
export const SCRAPED = {
  requests_running: ['vllm:num_requests_running', 'sglang:num_running_reqs', 'llamacpp:requests_processing'],
  requests_waiting: ['vllm:num_requests_waiting', 'sglang:num_queue_reqs', 'llamacpp:requests_deferred'],
  kv_cache_usage: [
    'vllm:kv_cache_usage_perc',
    'vllm:gpu_cache_usage_perc',
    'sglang:token_usage',
    'llamacpp:kv_cache_usage_ratio',
  ],
  prefix_cache_queries: ['vllm:prefix_cache_queries_total', 'vllm:gpu_prefix_cache_queries_total'],
  prefix_cache_hits: ['vllm:prefix_cache_hits_total', 'vllm:gpu_prefix_cache_hits_total'],
  preemptions: ['vllm:num_preemptions_total'],
  prompt_tokens: ['vllm:prompt_tokens_total', 'sglang:prompt_tokens_total', 'llamacpp:prompt_tokens_total'],
  generation_tokens: [
    'vllm:generation_tokens_total',
    'sglang:generation_tokens_total',
    'llamacpp:tokens_predicted_total',
  ],
} as const;

export type Scraped = keyof typeof SCRAPED;

/** Metrics at a time, in microseconds since 1970; NaN where the server does not report one. */
export type MetricsSample = { atUs: number } & Record<Scraped, number>;

/** Looks at a server's metrics again and again. A look that fails is left out. */
export class MetricsScraper {
  readonly samples: MetricsSample[] = [];
  readonly #client: ServerClient;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;
  #look: Promise<void> = Promise.resolve();
  #isEnded = false;

  constructor(client: ServerClient, intervalMs: number) {
    this.#client = client;
    this.#intervalMs = intervalMs;
  }

  /** A first look, then one after the other. */
  async begin(): Promise<void> {
    await this.#once();
    this.#wait();
  }

  /** A last look, when everything is over. */
  async end(): Promise<void> {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    await this.#look;
    await this.#once();
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      this.#look = this.#once().then(() => {
        if (!this.#isEnded) this.#wait();
      });
    }, this.#intervalMs);
  }

  async #once(): Promise<void> {
    const atUs = Date.now() * 1000;
    const { text } = await this.#client.ask('/metrics', Math.max(1000, this.#intervalMs));
    if (text === undefined) return;
    const found = readSamples(text);
    const figures = Object.entries(SCRAPED).map(([name, names]) => [name, found.sum(...names)]);
    this.samples.push({ atUs, ...(Object.fromEntries(figures) as Record<Scraped, number>) });
  }
}

/** The change of a server's metrics over a run: the growth of counters, and the maximum of gauges. */
export function scrapedSummary(samples: readonly MetricsSample[]): Record<string, number> {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return {};
  const summary: Record<string, number> = { samples: samples.length };
  for (const name of Object.keys(SCRAPED) as Scraped[]) {
    if (Number.isNaN(last[name])) continue;
    const isGauge = name.startsWith('requests_') || name === 'kv_cache_usage';
    if (isGauge) summary[`peak_${name}`] = Math.max(...samples.map((sample) => sample[name] || 0));
    else summary[name] = last[name] - first[name];
  }
  return summary;
}
