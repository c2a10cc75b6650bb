import { describe, expect, it } from 'vitest';
import { FACTS } from './engine.contract.js';
import { LAUNCHABLE_ENGINES } from './registry.js';
import { type CommandFacts, startCommand } from './start-command.js';

function commandOf(name: string, more: Partial<CommandFacts> = {}, version?: string): string {
  const { launch } = LAUNCHABLE_ENGINES.find((one) => one.name === name)!;
  return startCommand(launch.versions[version ?? launch.default_version]!, { ...FACTS, ...more }).join(' ');
}

describe('startCommand', () => {
  it('writes variables as flags', () => {
    const variables = { max_model_len: 4096, enable_prefix_caching: false, enforce_eager: true };
    expect(commandOf('vllm', { variables })).toMatch(
      /--served-model-name tiny --max-model-len=4096 --no-enable-prefix-caching --enforce-eager$/,
    );
    expect(commandOf('sglang', { variables: { lora_paths: ['a', 'b'] } })).toMatch(
      /--enable-metrics --lora-paths a b$/,
    );
  });

  it('separates flags and values for llama.cpp, which does not split at the equals sign', () => {
    const variables = { jinja: false, ctx_size: 0, chat_template: '-x' };
    expect(commandOf('llama-cpp', { variables })).toMatch(
      /--metrics --slots --no-jinja --ctx-size 0 --chat-template -x$/,
    );
    expect(commandOf('llama-cpp', { variables }, 'b6000')).toMatch(
      /--metrics --slots --ctx-size 0 --chat-template -x$/,
    );
  });

  it('lets the engine download a model of a hub with its revision and file', () => {
    const hub = { name: 'acme/tiny-GGUF:Q4_K_M', revision: 'main', file: 'tiny.gguf' };
    expect(commandOf('llama-cpp', { hub })).toBe(
      'llama-server --hf-repo acme/tiny-GGUF:Q4_K_M --hf-file tiny.gguf ' +
        '--host 127.0.0.1 --port {{port}} --alias tiny --metrics --slots',
    );
    expect(commandOf('vllm', { hub })).toMatch(/--served-model-name tiny --revision main$/);
  });

  it('passes false as a value where the engine takes one', () => {
    expect(commandOf('tei', { task: 'text-embedding', variables: { auto_truncate: false } })).toMatch(
      / --auto-truncate=false$/,
    );
  });

  it('splits a model over GPUs and shares a GPU, unless the variables set it', () => {
    expect(commandOf('vllm', { tensorParallel: 2 })).toMatch(/ --tensor-parallel-size 2$/);
    expect(commandOf('vllm', { gpuMemoryFraction: 0.5 })).toMatch(/ --gpu-memory-utilization 0.5$/);
    expect(commandOf('vllm', { gpuMemoryFraction: 0.5, variables: { gpu_memory_utilization: 0.4 } })).toMatch(
      /--served-model-name tiny --gpu-memory-utilization=0.4$/,
    );
    expect(commandOf('sglang', { tensorParallel: 4, gpuMemoryFraction: 0.25 })).toMatch(
      /--tp-size 4 --mem-fraction-static 0.25$/,
    );
  });

  it.each([
    ['vllm', 'text-embedding', / --runner pooling --max-num-seqs=8$/],
    ['sglang', 'text-embedding', / --is-embedding --max-num-seqs=8$/],
    ['llama-cpp', 'text-rerank', / --reranking --max-num-seqs 8$/],
  ] as const)('%s gets the arguments of %s before the variables', (name, task, end) => {
    const variables = { max_num_seqs: 8 };
    expect(commandOf(name, { task, variables })).toMatch(end);
    expect(commandOf(name, { variables })).not.toMatch(end);
  });

  it('passes values on unchanged: objects as JSON, null and empty lists as nothing', () => {
    const command = startCommand(
      { command: ['x', '{variables...}', 'a{model}b{unknown}'] },
      { ...FACTS, model: '; rm -rf {port}', variables: { o: { a: 1 }, n: null, e: [], s: '--evil' } },
    );
    expect(command).toEqual(['x', '--o={"a":1}', '--s=--evil', 'a; rm -rf {port}b{unknown}']);
  });
});
