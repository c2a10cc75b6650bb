import { InputError } from '../../../kernel/errors.js';
import { knownNames } from '../../../kernel/text/nearest-name.js';
import { loadGpu } from '../../../replica/catalogue/gpu-catalogue.js';
import { kvCapacity } from '../../models/kv-capacity.js';
import { gpuDemand } from '../../runner/gpu-demand.js';
import { badVariable, invalidField } from '../errors.js';
import type { PlaceOf } from '../kind.js';
import { bundledGpuMemories, bundledModel, bundledModelNames } from './bundled-catalogue.js';
import { isEmulated, numberVariable, type PlannedUse } from './planned-use.js';

/** Flags of an engine's command by which the emulator knows more than the catalogue. */
const OWN_SOURCES = ['--model-config-folder', '--latency-profile', '--hardware-config'];

/** What stops the emulator at its start: a model or a GPU that the catalogue does not have, a model that does not fit. */
export function emulatedModelProblems(
  { gpus, model: name, variables, version }: PlannedUse,
  placeOf: PlaceOf,
): InputError[] {
  const command = version.command.flat();
  const isCatalogued = isEmulated(version) && command.includes('{model_name}');
  if (name === undefined || !isCatalogued || variables.model_config_folder !== undefined) return [];
  if (command.some((one) => OWN_SOURCES.includes(one.split('=')[0]!))) return [];
  const model = bundledModel(name);
  if (model === null) {
    const hint = knownNames(name.slice(name.indexOf('/') + 1), bundledModelNames());
    const problem = `the emulator has no model '${name}': it emulates those of the catalogue`;
    return [invalidField(placeOf('spec.model.name'), problem, hint)];
  }
  const setsTp = command.includes('--tp') && !command.includes('{tensor_parallel}');
  if (setsTp || command.includes('--hardware')) return [];
  const { usual } = model;
  const hardware = typeof variables.hardware === 'string' ? variables.hardware : usual?.hardware;
  const devices = gpuDemand(gpus).devices;
  const tp = numberVariable(variables, ['tp'])?.value ?? (devices > 1 ? devices : usual?.tp);
  if (hardware === undefined || tp === undefined) {
    const missing = hardware === undefined ? 'hardware' : 'tp';
    const problem = `is missing: no usual GPUs are known for '${name}'`;
    return [badVariable(placeOf(`spec.variables.${missing}`), problem, 'as in hardware: H100, tp: 1')];
  }
  try {
    const memoryGiB = bundledGpuMemories().get(hardware) ?? loadGpu(hardware).memoryGiB;
    if (variables.total_kv_blocks === undefined) {
      const share = gpus > 0 && gpus < 1 ? gpus : undefined;
      const utilisation = numberVariable(variables, ['gpu_memory_utilization'])?.value ?? share;
      kvCapacity(model.spec, { memoryGiB, gpus: tp, ...(utilisation === undefined ? {} : { utilisation }) });
    }
    return [];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const path = error.code === 'UNKNOWN_GPU' ? 'spec.variables.hardware' : 'spec.variables';
    return [badVariable(placeOf(path), error.problem, error.hint)];
  }
}
