import { describe, expect, it } from 'vitest';
import { builtInEngines } from '../built-in-engines.js';
import { type EngineUse, endpointProblems } from '../check-endpoint.js';
import type { EngineSpec } from '../kinds/engine.js';
import { impliedTensorParallel } from './gpu-shares.js';

const engines = new Map(builtInEngines().map(({ metadata, spec }) => [metadata.name, spec as unknown as EngineSpec]));

type Given = Partial<Omit<EngineUse, 'engine' | 'model'>> & { readonly model?: string };

/** The messages for an endpoint of an engine. */
function messages(engine: string, { model, ...more }: Given): string[] {
  const use: EngineUse = {
    engine: { name: engine },
    model: model === undefined ? {} : { name: model },
    variables: {},
    ...more,
  };
  return endpointProblems(use, engines.get(engine)!, [...engines.keys()], (path) => path).map(({ message }) => message);
}

const on = (gpus: number, product?: string) => ({ gpus, ...(product === undefined ? {} : { product }) });

describe('GPUs and parallelism', () => {
  it.each([
    [
      'vllm',
      1,
      { tensor_parallel_size: 4 },
      'spec.variables.tensor_parallel_size: needs 4 GPUs, and resources.gpus is 1; ' +
        'set resources.gpus to 4, or leave tensor_parallel_size out: it is then what resources.gpus leaves',
    ],
    [
      'sglang',
      4,
      { tp_size: 2, pp_size: 4 },
      'spec.variables.tp_size: tp_size 2 x pp_size 4 = 8 GPUs, and resources.gpus is 4; ' +
        'set resources.gpus to 8, or leave tp_size out: it is then what resources.gpus leaves',
    ],
    [
      'vllm',
      4,
      { tensor_parallel_size: 2 },
      'spec.variables.tensor_parallel_size: needs 2 GPUs, and resources.gpus is 4; ' +
        'set resources.gpus to 2, or leave tensor_parallel_size out: it is then what resources.gpus leaves',
    ],
    [
      'vllm',
      3,
      { pipeline_parallel_size: 2 },
      'spec.variables.pipeline_parallel_size: 2 GPUs do not divide the GPUs of a replica: resources.gpus is 3; ' +
        'set resources.gpus to 2',
    ],
  ] as const)('%s on %d GPUs with %j is refused with the numbers', (engine, gpus, variables, message) => {
    expect(messages(engine, { resources: on(gpus), variables })).toEqual([message]);
  });

  it.each([
    ['vllm', 4, { tensor_parallel_size: 2, pipeline_parallel_size: 2 }],
    ['vllm', 4, { pipeline_parallel_size: 2 }],
    ['vllm', 0, { tensor_parallel_size: 2 }],
    ['vllm', 0.5, { tensor_parallel_size: 1, gpu_memory_utilization: 0.5 }],
    ['emulator', 1, { tp: 4 }],
  ] as const)('%s on %d GPUs with %j is accepted', (engine, gpus, variables) => {
    expect(messages(engine, { resources: on(gpus), variables })).toEqual([]);
  });

  it('leaves to tensor parallelism what other sizes do not take', () => {
    expect(impliedTensorParallel(8, {})).toBe(8);
    expect(impliedTensorParallel(8, { pipeline_parallel_size: 2, data_parallel_size: 2 })).toBe(2);
    expect(impliedTensorParallel(8, { dp_size: 4, enable_dp_attention: true })).toBe(8);
    expect(impliedTensorParallel(3, { pp_size: 2 })).toBe(3);
  });

  it('refuses a fraction of memory above the share of the GPU', () => {
    expect(messages('vllm', { resources: on(0.25), variables: { gpu_memory_utilization: 0.9 } })).toEqual([
      'spec.variables.gpu_memory_utilization: 0.9 of the memory of a GPU is more than the share that it gets: ' +
        'resources.gpus is 0.25; set it to at most 0.25, or resources.gpus to at least 0.9',
    ]);
    expect(messages('sglang', { resources: on(0.5), variables: { mem_fraction_static: 0.6 } })).toHaveLength(1);
    expect(messages('vllm', { resources: on(1), variables: { gpu_memory_utilization: 0.9 } })).toEqual([]);
  });
});

describe('a model and the memory of its GPUs', () => {
  const model = 'qwen/qwen3-14b';

  it('refuses weights and one block of KV that do not fit, with the arithmetic', () => {
    expect(messages('vllm', { model, resources: on(1, 'L4') })).toEqual([
      'spec.resources.gpus: qwen/qwen3-14b does not fit: 14.8 billion parameters x 2 bytes = 27.5 GiB of weights, and 2.5 MiB ' +
        'for one block of KV; 1 x 24 GiB x 0.92 = 22.1 GiB are usable; ' +
        'give at least 2 GPUs of this size, larger ones, or a quantised model',
    ]);
    expect(messages('sglang', { model, resources: on(0.25, 'H100') })[0]).toContain(
      '1 x 80 GiB x 0.25 = 20 GiB are usable',
    );
  });

  it.each([
    [{ resources: on(2, 'L4') }],
    [{ resources: on(1, 'H100') }],
    [{ resources: on(1, 'L4'), variables: { quantization: 'fp8' } }],
    [{ resources: on(1, 'L4'), variables: { quantization: 'awq' } }],
    [{ resources: on(1, 'L4'), variables: { cpu_offload_gb: 8 } }],
    [{ resources: on(1, 'L4'), variables: { hf_overrides: { num_hidden_layers: 2 } } }],
    [{ resources: on(1, 'a GPU of next year') }],
    [{ resources: on(1) }],
    [{ resources: on(1, 'L4'), model: 'acme/unknown' }],
    [{ resources: on(0) }],
  ] as readonly [Given][])('accepts %j', (given) => {
    expect(messages('vllm', { model, ...given })).toEqual([]);
  });

  it('takes the memory of the GPUs of the cluster, and float32 into account', () => {
    const accelerators = [
      { product: 'NVIDIA T4', memoryGiB: 15 },
      { product: 'NVIDIA RTX 9000', memoryGiB: 48 },
    ];
    expect(messages('vllm', { model, resources: on(1), accelerators })).toEqual([]);
    expect(messages('vllm', { model, resources: on(1, 'T4'), accelerators })[0]).toContain('1 x 15 GiB x 0.92');
    const variables = { dtype: 'float32' };
    expect(messages('vllm', { model, resources: on(1), accelerators, variables })[0]).toContain('x 4 bytes = 55 GiB');
  });

  it('counts each copy of data parallelism on its own GPUs', () => {
    expect(messages('vllm', { model, resources: on(2, 'L4'), variables: { data_parallel_size: 2 } })).toHaveLength(1);
  });
});

describe('the emulator', () => {
  it('refuses a model that the catalogue does not have', () => {
    expect(messages('emulator', { model: 'acme/qwen3-15b' })[0]).toMatch(
      /^spec\.model\.name: the emulator has no model 'acme\/qwen3-15b': it emulates those of the catalogue; did you mean 'qwen3-14b'\?/,
    );
    expect(messages('emulator', { model: 'qwen/qwen3-14b' })).toEqual([]);
    expect(messages('emulator', { model: 'acme/own', variables: { model_config_folder: '/x' } })).toEqual([]);
  });

  it('refuses an unknown GPU, and a model that does not fit on the emulated one', () => {
    const model = 'meta-llama/llama-3.1-70b-instruct';
    expect(messages('emulator', { model, variables: { hardware: 'H1000' } })[0]).toMatch(
      /^spec\.variables\.hardware: 'H1000'/,
    );
    expect(messages('emulator', { model, variables: { hardware: 'L4', tp: 1 } })[0]).toMatch(
      /needs \d+\.\d GiB before any KV cache, 21\.6 GiB are usable/,
    );
    expect(messages('emulator', { model, variables: { hardware: 'L4', tp: 1, total_kv_blocks: 100 } })).toEqual([]);
    expect(messages('emulator', { model, variables: { hardware: 'H100', tp: 3 } })[0]).toContain('3 does not divide');
  });
});

describe('extra arguments', () => {
  it('are accepted where the cluster allows them, and hide neither variables nor flags of the start command', () => {
    const variables = { brand_new: 1, max_model_len: 8192 };
    expect(messages('vllm', { variables })[0]).toContain("the engine has no parameter 'brand_new'");
    expect(messages('vllm', { variables, hasExtraArgs: true })).toEqual([]);
    const hidden = {
      'trust-remote-code': true,
      'trust-remote': true,
      port: 1,
      host: '0.0.0.0',
      'a b': 1,
      max_model_len: 'x',
    };
    expect(messages('vllm', { variables: hidden, hasExtraArgs: true })).toEqual([
      "spec.variables.max_model_len: 'x' is not accepted; give text that matches ^auto$",
      "spec.variables.trust-remote-code: is the variable 'trust_remote_code'; write trust_remote_code",
      'spec.variables.trust-remote: abbreviates a variable that needs an admin; write the whole name',
      'spec.variables.port: the start command sets --port; leave it out',
      'spec.variables.host: the start command sets --host; leave it out',
      'spec.variables.a b: is not a name of a flag; as in max_model_len',
    ]);
  });
});
