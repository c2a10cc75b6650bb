import type { ModelSpec } from '../../../replica/catalogue/contract.js';
import { bundledModels, loadModel } from '../../../replica/catalogue/model-catalogue.js';

/** The catalogue does not change while the program runs; a file with a thousand endpoints reads each model once. */
const loaded = new Map<string, ModelSpec>();
let names: readonly string[] | null = null;

/** The names of the models of the catalogue. */
export function bundledModelNames(): readonly string[] {
  names ??= bundledModels();
  return names;
}

/** A model of the catalogue; null when it has none of this name. */
export function bundledModel(name: string): ModelSpec | null {
  const folder = name.toLowerCase().slice(name.indexOf('/') + 1);
  if (!bundledModelNames().includes(folder)) return null;
  const known = loaded.get(folder) ?? loadModel(folder);
  loaded.set(folder, known);
  return known;
}
