import { describe, expect, it } from 'vitest';
import { type EngineSample, engineContract, reportOf } from './engine.contract.js';
import { missingSignals } from './engine.js';
import { llamacpp } from './llamacpp.js';
import { ENGINES, engineNamed } from './registry.js';
import { sglang } from './sglang.js';
import { tgi } from './tgi.js';
import { vllm } from './vllm.js';

const MODEL = 'model_name="m"';

const SAMPLES: Readonly<Record<string, EngineSample>> = {
  vllm: {
    metrics: `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",${MODEL}} 3.0
vllm:num_requests_waiting{engine="0",${MODEL}} 2.0
vllm:kv_cache_usage_perc{engine="0",${MODEL}} 0.25
vllm:cache_config_info{block_size="16",num_gpu_blocks="1000"} 1.0
vllm:prefix_cache_queries_total{engine="0"} 400.0
vllm:prefix_cache_hits_total{engine="0"} 100.0
vllm:time_to_first_token_seconds_bucket{le="+Inf",${MODEL}} 5.0`,
  },
  sglang: {
    metrics: `sglang:num_running_reqs{${MODEL}} 4
sglang:num_queue_reqs{${MODEL}} 1
sglang:token_usage{${MODEL}} 0.5
sglang:num_pages{${MODEL}} 200
sglang:cache_hit_rate{${MODEL}} 0.75`,
  },
  llamacpp: {
    metrics: `llamacpp:requests_processing 2
llamacpp:requests_deferred 5
llamacpp:prompt_tokens_total 100
llamacpp:prompt_tokens_cached_total 30`,
    extra: [{ id: 0, is_processing: true }, { id: 1, is_processing: false }, { id: 2, is_processing: true }, { id: 3 }],
  },
  tgi: { metrics: 'tgi_batch_current_size 7\ntgi_queue_size 9' },
};

for (const engine of ENGINES) engineContract(engine, SAMPLES[engine.name]!);

describe('vLLM', () => {
  it('reads its metrics', () => {
    const report = { running: 3, waiting: 2, kvUsed: 0.25, freeBlocks: 750, cacheHitRate: 0.25 };
    expect(reportOf(vllm, SAMPLES.vllm!)).toEqual(report);
  });

  it('knows the names of older versions', () => {
    const metrics = SAMPLES.vllm!.metrics.replace('vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc').replaceAll(
      'vllm:prefix_cache',
      'vllm:gpu_prefix_cache',
    );
    expect(metrics).not.toBe(SAMPLES.vllm!.metrics);
    expect(reportOf(vllm, { metrics })).toEqual(reportOf(vllm, SAMPLES.vllm!));
  });

  it('adds up what its ranks say, and takes the mean of shares', () => {
    const metrics = `vllm:num_requests_running{engine="0"} 3
vllm:num_requests_running{engine="1"} 5
vllm:num_requests_waiting{engine="0"} 1
vllm:num_requests_waiting{engine="1"} 0
vllm:kv_cache_usage_perc{engine="0"} 0.9
vllm:kv_cache_usage_perc{engine="1"} 0.7`;
    expect(reportOf(vllm, { metrics })).toMatchObject({ running: 8, waiting: 1, kvUsed: 0.8 });
  });

  it('names what was renamed', () => {
    const metrics = SAMPLES.vllm!.metrics.replace('vllm:num_requests_waiting', 'vllm:requests_waiting');
    const report = reportOf(vllm, { metrics });
    expect([missingSignals(vllm, report), report.waiting]).toEqual([['waiting'], Number.NaN]);
  });
});

describe('the others', () => {
  it('SGLang', () => {
    const report = { running: 4, waiting: 1, kvUsed: 0.5, freeBlocks: 100, cacheHitRate: 0.75 };
    expect(reportOf(sglang, SAMPLES.sglang!)).toEqual(report);
  });

  it('llama.cpp, whose slots are its KV cache', () => {
    const report = { running: 2, waiting: 5, kvUsed: 0.5, freeBlocks: Number.NaN, cacheHitRate: 0.3 };
    expect(reportOf(llamacpp, SAMPLES.llamacpp!)).toEqual(report);
    const { metrics } = SAMPLES.llamacpp!;
    expect(missingSignals(llamacpp, reportOf(llamacpp, { metrics }))).toEqual(['kvUsed']);
  });

  it('TGI, which says nothing of its cache, and need not', () => {
    const nothing = { kvUsed: Number.NaN, freeBlocks: Number.NaN, cacheHitRate: Number.NaN };
    const report = reportOf(tgi, SAMPLES.tgi!);
    expect(report).toEqual({ running: 7, waiting: 9, ...nothing });
    expect(missingSignals(tgi, report)).toEqual([]);
  });
});

describe('engineNamed', () => {
  it('finds every engine, and suggests one for a slip', () => {
    expect(ENGINES.map(({ name }) => engineNamed(name, '--engine').name)).toEqual(ENGINES.map(({ name }) => name));
    expect(() => engineNamed('vlm', '--engine')).toThrowError(
      expect.objectContaining({ code: 'ENGINE_UNKNOWN', place: '--engine', hint: expect.stringContaining("'vllm'") }),
    );
  });
});
