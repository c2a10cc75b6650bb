import type { InputError } from '../../../kernel/errors.js';
import { gpuDemand } from '../../runner/gpu-demand.js';
import { badVariable } from '../errors.js';
import type { PlaceOf } from '../kind.js';
import { isEmulated, MEMORY_FRACTIONS, type NumberVariable, numberVariable, type PlannedUse } from './planned-use.js';

const TENSOR_PARALLEL = ['tensor_parallel_size', 'tp_size'];
const DATA_PARALLEL = ['data_parallel_size', 'dp_size'];
/** Each multiplies the number of GPUs. */
const OTHER_PARALLEL = [['pipeline_parallel_size', 'pp_size'], ['prefill_context_parallel_size']];

/** How the variables of an endpoint divide its GPUs. */
export interface ParallelSizes {
  readonly tensor: NumberVariable | undefined;
  readonly data: NumberVariable | undefined;
  readonly others: readonly NumberVariable[];
}

export function parallelSizes(variables: PlannedUse['variables']): ParallelSizes {
  const others = OTHER_PARALLEL.map((names) => numberVariable(variables, names));
  // With attention parallelism, SGLang divides the tensor-parallel GPUs.
  const isInside = variables.enable_dp_attention === true;
  return {
    tensor: numberVariable(variables, TENSOR_PARALLEL),
    data: isInside ? undefined : numberVariable(variables, DATA_PARALLEL),
    others: others.filter((one) => one !== undefined),
  };
}

const productOf = (sizes: readonly NumberVariable[]) => sizes.reduce((product, { value }) => product * value, 1);

/** Over how many of its GPUs a replica splits each layer, unless a variable says so: those that other sizes leave. */
export function impliedTensorParallel(devices: number, variables: PlannedUse['variables']): number {
  const { data, others } = parallelSizes(variables);
  const rest = devices / productOf(data === undefined ? others : [...others, data]);
  return Number.isInteger(rest) ? rest : devices;
}

/** Variables that need other GPUs than the endpoint requests: more, fewer, or a larger share of one. */
export function gpuShareProblems(use: PlannedUse, placeOf: PlaceOf): InputError[] {
  const { gpus, variables, version } = use;
  if (gpus <= 0 || isEmulated(version)) return [];
  const problem = parallelProblem(gpuDemand(gpus).devices, use, placeOf);
  const problems = problem === null ? [] : [problem];
  const share = numberVariable(variables, MEMORY_FRACTIONS);
  if (gpus < 1 && share !== undefined && share.value > gpus) {
    const text = `${share.value} of the memory of a GPU is more than the share that it gets: resources.gpus is ${gpus}`;
    const hint = `set it to at most ${gpus}, or resources.gpus to at least ${share.value}`;
    problems.push(badVariable(placeOf(`spec.variables.${share.name}`), text, hint));
  }
  return problems;
}

function parallelProblem(devices: number, { gpus, variables }: PlannedUse, placeOf: PlaceOf): InputError | null {
  const { data, others, tensor } = parallelSizes(variables);
  const given = [tensor, data, ...others].filter((one) => one !== undefined);
  const [first] = given;
  if (first === undefined) return null;
  const needed = productOf(given);
  if (tensor === undefined ? devices % needed === 0 : devices === needed) return null;
  const sizes = given.map(({ name, value }) => `${name} ${value}`).join(' x ');
  const count = `${sizes} = ${needed} GPU${needed === 1 ? '' : 's'}`;
  const problem = given.length === 1 ? `${needed} GPUs` : count;
  const text =
    tensor === undefined
      ? `${problem} do not divide the GPUs of a replica: resources.gpus is ${gpus}`
      : `${given.length === 1 ? `needs ${needed} GPUs` : count}, and resources.gpus is ${gpus}`;
  const other = tensor === undefined ? '' : `, or leave ${tensor.name} out: it is then what resources.gpus leaves`;
  return badVariable(placeOf(`spec.variables.${first.name}`), text, `set resources.gpus to ${needed}${other}`);
}
