import { cataloguePath } from './catalogue-path.js';
import { loadJsonObject } from './load-json.js';

export interface ServingDefaults {
  hardware: string;
  tp: number;
}

/**
 * The GPU and tensor parallelism a known model is usually served with, or undefined. Organisations are ignored, as when
 * a model is loaded. An entry with one is for exactly that model; one without is for a family: `llama-3.1-70b` covers
 * `meta-llama/llama-3.1-70b-instruct`.
 */
export function servingDefaults(modelName: string): ServingDefaults | undefined {
  const name = modelName.toLowerCase();
  const folder = withoutOrganisation(name);
  // The bundled file is checked by its test, not at every start.
  const entries = loadJsonObject(cataloguePath('defaults.json')) as { [name: string]: ServingDefaults };
  for (const [entry, defaults] of Object.entries(entries)) {
    if (folder === withoutOrganisation(entry)) return defaults;
  }
  for (const [entry, defaults] of Object.entries(entries)) {
    if (!entry.includes('/') && folder.startsWith(`${entry}-`)) return defaults;
  }
  return undefined;
}

/** Names with an organisation that have defaults. */
export function knownModels(): string[] {
  return Object.keys(loadJsonObject(cataloguePath('defaults.json'))).filter((name) => name.includes('/'));
}

function withoutOrganisation(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}
