import { bundledGpus } from '../../replica/catalogue/gpu-catalogue.js';
import { bundledModels } from '../../replica/catalogue/model-catalogue.js';
import { knownModels, servingDefaults } from '../../replica/catalogue/serving-defaults.js';
import { LATENCY_MODELS } from '../../replica/latency/registry.js';
import { WORKLOADS } from '../../workload/generate/presets.js';

export { WORKLOADS as LAB_WORKLOADS } from '../../workload/generate/presets.js';

/** Those that need no file. */
export const LAB_LATENCY_MODELS = LATENCY_MODELS.map(({ name }) => name).filter((name) => name !== 'profile');

/** A model of the catalogue, with the GPU and tensor parallelism that it is usually served with. */
export interface LabModel {
  readonly name: string;
  readonly hardware: string | null;
  readonly tp: number | null;
}

/** What an experiment can choose from. */
export function labChoices(): { workloads: readonly string[]; models: LabModel[]; hardware: string[] } {
  const named = knownModels();
  const models = bundledModels().map((folder) => {
    const name = named.find((one) => one.slice(one.indexOf('/') + 1) === folder) ?? folder;
    const usual = servingDefaults(name);
    return { name, hardware: usual?.hardware ?? null, tp: usual?.tp ?? null };
  });
  return { workloads: WORKLOADS, models, hardware: bundledGpus() };
}
