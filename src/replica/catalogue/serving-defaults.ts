import { cataloguePath } from './catalogue-path.js';
import { loadJsonObject } from './load-json.js';

export interface ServingDefaults {
  hardware: string;
  tp: number;
}

/**
 * The GPU and tensor parallelism a known model is usually served with, or undefined. An entry with an organisation
 * stands for exactly that name; one without stands for a family, whatever its organisation: `llama-3.1-70b` covers
 * `meta-llama/llama-3.1-70b-instruct`.
 */
export function servingDefaults(modelName: string): ServingDefaults | undefined {
  const name = modelName.toLowerCase();
  const folder = name.slice(name.indexOf('/') + 1);
  // The bundled file is checked by its test, not at every start.
  const entries = loadJsonObject(cataloguePath('defaults.json')) as { [name: string]: ServingDefaults };
  if (Object.hasOwn(entries, name)) return entries[name];
  for (const [entry, defaults] of Object.entries(entries)) {
    if (!entry.includes('/') && (folder === entry || folder.startsWith(`${entry}-`))) return defaults;
  }
  return undefined;
}
