import type { ModelSpec } from '../../../replica/catalogue/contract.js';
import { bundledGpus, loadGpu } from '../../../replica/catalogue/gpu-catalogue.js';
import { bundledModels, loadModel } from '../../../replica/catalogue/model-catalogue.js';
import { type ServingDefaults, servingDefaults } from '../../../replica/catalogue/serving-defaults.js';

/** A model of the catalogue, and the GPUs that it is usually served with. */
export interface BundledModel {
  readonly spec: ModelSpec;
  readonly usual: ServingDefaults | undefined;
}

/** The catalogue does not change while the program runs; a file with a thousand endpoints reads each part once. */
const models = new Map<string, BundledModel>();
let names: readonly string[] | null = null;
let memories: ReadonlyMap<string, number> | null = null;

/** The names of the models of the catalogue. */
export function bundledModelNames(): readonly string[] {
  names ??= bundledModels();
  return names;
}

/** A model of the catalogue; null when it has none of this name. */
export function bundledModel(name: string): BundledModel | null {
  const folder = name.toLowerCase().slice(name.indexOf('/') + 1);
  if (!bundledModelNames().includes(folder)) return null;
  const known = models.get(folder) ?? { spec: loadModel(folder), usual: servingDefaults(folder) };
  models.set(folder, known);
  return known;
}

/** GiB of each GPU of the catalogue, by name. */
export function bundledGpuMemories(): ReadonlyMap<string, number> {
  memories ??= new Map(bundledGpus().map((name) => [name, loadGpu(name).memoryGiB]));
  return memories;
}
