import { describe, expect, it } from 'vitest';
import { reportOf } from './engine.contract.js';
import { sample as llamaCpp } from './llama-cpp/sample.fixture.js';
import { llamaCppSignals } from './llama-cpp/signals.js';
import { sglangSignals } from './sglang/signals.js';
import { missingSignals } from './signals.js';
import { vllmMetrics } from './vllm/sample.fixture.js';
import { vllmSignals } from './vllm/signals.js';

describe('vLLM', () => {
  it('reads the metric names of older versions', () => {
    const metrics = vllmMetrics.metrics
      .replace('vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc')
      .replaceAll('vllm:prefix_cache', 'vllm:gpu_prefix_cache');
    expect(metrics).not.toBe(vllmMetrics.metrics);
    expect(reportOf(vllmSignals, { metrics })).toEqual(vllmMetrics.report);
  });

  it('adds up the counts of data-parallel ranks, and averages their ratios', () => {
    const metrics = `vllm:num_requests_running{engine="0"} 3
vllm:num_requests_running{engine="1"} 5
vllm:num_requests_waiting{engine="0"} 1
vllm:num_requests_waiting{engine="1"} 0
vllm:kv_cache_usage_perc{engine="0"} 0.9
vllm:kv_cache_usage_perc{engine="1"} 0.7`;
    expect(reportOf(vllmSignals, { metrics })).toMatchObject({ running: 8, waiting: 1, kvUsed: 0.8 });
  });

  it('lists a renamed metric as missing', () => {
    const metrics = vllmMetrics.metrics.replace('vllm:num_requests_waiting', 'vllm:requests_waiting');
    const report = reportOf(vllmSignals, { metrics });
    expect([missingSignals(vllmSignals, report), report.waiting]).toEqual([['waiting'], Number.NaN]);
  });
});

describe('SGLang', () => {
  it('counts requests once when they are also reported by priority', () => {
    const metrics = `sglang:num_running_reqs{dp_rank="0",priority=""} 3
sglang:num_running_reqs{dp_rank="0",priority="1"} 2
sglang:num_running_reqs{dp_rank="0",priority="5"} 1
sglang:num_running_reqs{dp_rank="1",priority=""} 4
sglang:num_running_reqs{dp_rank="1",priority="1"} 4
sglang:num_queue_reqs{dp_rank="0"} 6`;
    expect(reportOf(sglangSignals, { metrics })).toMatchObject({ running: 7, waiting: 6 });
  });
});

describe('llama.cpp', () => {
  it('lists the KV cache as missing when the slots are not available', () => {
    const { metrics } = llamaCpp.signals!;
    expect(missingSignals(llamaCppSignals, reportOf(llamaCppSignals, { metrics }))).toEqual(['kvUsed']);
  });
});
