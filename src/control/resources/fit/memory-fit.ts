import type { InputError } from '../../../kernel/errors.js';
import type { ModelSpec } from '../../../replica/catalogue/contract.js';
import { kvBytesPerToken, parameters } from '../../../replica/catalogue/kv-capacity.js';
import { gpuDemand, isProduct } from '../../runner/gpu-demand.js';
import { invalidField } from '../errors.js';
import type { PlaceOf } from '../kind.js';
import { bundledGpuMemories, bundledModel } from './bundled-catalogue.js';
import { parallelSizes } from './gpu-shares.js';
import { isEmulated, MEMORY_FRACTIONS, numberVariable, type PlannedUse } from './planned-use.js';

const GIB = 2 ** 30;
/** The largest default of the engines. */
const USUAL_FRACTION = 0.92;
const USUAL_BLOCK = 16;
/** Bytes per weight of quantisations that an engine computes when it loads a model; of all others, the fewest there are. */
const QUANTISED_BYTES: Readonly<Record<string, number>> = { fp8: 1, int8: 1, experts_int8: 1 };
const FEWEST_BYTES = 0.5;
const ELEMENT_BYTES: Readonly<Record<string, number>> = { float: 4, float32: 4 };

/**
 * A model of the catalogue whose weights and one block of KV do not fit into the GPUs of a replica. It is a lower bound of what an
 * engine needs: activations and buffers are not counted, so that nothing is refused that could start.
 */
export function memoryFitProblems(use: PlannedUse, placeOf: PlaceOf): InputError[] {
  const { gpus, model: name, variables } = use;
  const model = name === undefined || !keepsWeightsOnGpu(use) ? null : (bundledModel(name)?.spec ?? null);
  const memoryGiB = model === null ? null : gpuMemory(use);
  if (model === null || memoryGiB === null) return [];
  const { data } = parallelSizes(variables);
  const devices = Math.max(1, Math.floor(gpuDemand(gpus).devices / (data?.value ?? 1)));
  const fraction = usedFraction(use);
  const usable = devices * memoryGiB * fraction;
  const weightBytes = bytesPerWeight(model, variables);
  const offloaded = devices * (numberVariable(variables, ['cpu_offload_gb'])?.value ?? 0);
  const weights = Math.max(0, (parameters(model) * weightBytes) / GIB - offloaded);
  const block =
    (kvBytesPerToken(model, 1) * (numberVariable(variables, ['block_size', 'page_size'])?.value ?? USUAL_BLOCK)) / GIB;
  if (!(weights + block > usable)) return [];
  const billions = (parameters(model) / 1e9).toFixed(1);
  const problem =
    `${name} does not fit: ${billions} billion parameters x ${weightBytes} bytes = ${shownGiB(weights + offloaded)} of weights` +
    `${offloaded > 0 ? `, ${shownGiB(offloaded)} of them on the CPU` : ''}, and ${(block * 1024).toFixed(1)} MiB for one block of KV; ` +
    `${devices} x ${shownGiB(memoryGiB)} x ${fraction} = ${shownGiB(usable)} are usable`;
  const enough = Math.ceil((weights + block) / (memoryGiB * (gpus < 1 ? USUAL_FRACTION : fraction)));
  const hint = `give at least ${enough} GPU${enough === 1 ? '' : 's'} of this size, larger ones, or a quantised model`;
  return [invalidField(placeOf('spec.resources.gpus'), problem, hint)];
}

/** Engines that take a fraction of GPU memory keep all weights there, unless what they load is not what the catalogue has. */
function keepsWeightsOnGpu({ gpus, variables, version }: PlannedUse): boolean {
  if (gpus <= 0 || isEmulated(version)) return false;
  if (variables.hf_overrides !== undefined || variables.load_format === 'gguf') return false;
  const { properties } = version.parameters as { properties?: Readonly<Record<string, unknown>> };
  return MEMORY_FRACTIONS.some((name) => properties?.[name] !== undefined);
}

function usedFraction({ gpus, variables }: PlannedUse): number {
  // vLLM ignores its fraction then.
  if (variables.kv_cache_memory_bytes !== undefined) return 1;
  return numberVariable(variables, MEMORY_FRACTIONS)?.value ?? (gpus < 1 ? gpus : USUAL_FRACTION);
}

function bytesPerWeight(model: ModelSpec, { dtype, quantization }: PlannedUse['variables']): number {
  if (typeof quantization === 'string') {
    return Math.min(model.weightBytesPerParam, QUANTISED_BYTES[quantization] ?? FEWEST_BYTES);
  }
  const isQuantised = model.weightBytesPerParam < model.bytesPerParam;
  return isQuantised || typeof dtype !== 'string' || dtype === 'auto'
    ? model.weightBytesPerParam
    : (ELEMENT_BYTES[dtype] ?? 2);
}

/** The memory of the largest GPU that the endpoint may get; null when it is not known. */
function gpuMemory({ accelerators, product }: PlannedUse): number | null {
  const here = accelerators.filter((gpu) => isProduct(gpu, product)).map(({ memoryGiB }) => memoryGiB);
  if (here.length > 0) return Math.max(...here);
  if (product === null) return null;
  const listed = [...bundledGpuMemories()].filter(([name]) => isProduct({ product }, name));
  return listed.length === 0 ? null : Math.max(...listed.map(([, memory]) => memory));
}

const shownGiB = (gib: number) => `${Number(gib.toFixed(1))} GiB`;
