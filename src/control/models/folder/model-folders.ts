import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { knownNames } from '../../../kernel/text/nearest-name.js';
import type { ModelListing } from '../contract.js';
import { modelNotFound, versionNeeded, versionNotFound } from '../errors.js';

const CONFIG = 'config.json';
const WEIGHTS = /\.(?:safetensors|gguf)$/;
/** The version of a model without versions. */
const ONLY_VERSION = 'main';
/** Used when no version is requested. */
const DEFAULT_VERSIONS = ['latest', ONLY_VERSION];

/** Whether a folder is a model: it contains a config or weights. */
async function isModelFolder(folder: string): Promise<boolean> {
  const entries = await readdir(folder).catch(() => []);
  return entries.some((name) => name === CONFIG || WEIGHTS.test(name));
}

/** The sub-folders that are models, sorted. */
async function modelsIn(folder: string): Promise<string[]> {
  const models: string[] = [];
  for (const name of await foldersIn(folder)) if (await isModelFolder(join(folder, name))) models.push(name);
  return models;
}

/**
 * Every model below a root: `tiny` is a model, or contains versions that are; so may `acme/tiny`. What could be a version of `acme`
 * or a model `acme/tiny` is listed as the former, and found under both names.
 */
export async function listModelFolders(root: string): Promise<ModelListing[]> {
  const found: ModelListing[] = [];
  for (const name of await foldersIn(root)) {
    const folder = join(root, name);
    if (await isModelFolder(folder)) {
      found.push({ name, versions: [] });
      continue;
    }
    const versions = await modelsIn(folder);
    if (versions.length > 0) found.push({ name, versions });
    for (const inner of await foldersIn(folder)) {
      if (versions.includes(inner)) continue;
      const innerVersions = await modelsIn(join(folder, inner));
      if (innerVersions.length > 0) found.push({ name: `${name}/${inner}`, versions: innerVersions });
    }
  }
  return found;
}

/** The folder of a model and its version. @param place used in errors */
export async function findModelFolder(
  root: string,
  name: string,
  requested: string | undefined,
  place: string,
): Promise<{ folder: string; version: string }> {
  const home = join(root, name);
  const isPlain = await isModelFolder(home);
  const versions = await modelsIn(home);
  if (!isPlain && versions.length === 0) {
    const known = (await listModelFolders(root)).map((model) => model.name);
    throw modelNotFound(place, known.length === 0 ? 'the folder has no models' : knownNames(name, known));
  }
  if (requested !== undefined && (await isModelFolder(join(home, requested)))) {
    return { folder: join(home, requested), version: requested };
  }
  if (isPlain && (requested ?? ONLY_VERSION) === ONLY_VERSION) return { folder: home, version: ONLY_VERSION };
  if (requested !== undefined) {
    throw versionNotFound(place, requested, knownNames(requested, isPlain ? [ONLY_VERSION, ...versions] : versions));
  }
  const preferred = DEFAULT_VERSIONS.find((one) => versions.includes(one));
  if (preferred === undefined && versions.length > 1) throw versionNeeded(place, versions);
  const version = preferred ?? versions[0]!;
  return { folder: join(home, version), version };
}

/** Folders and links, without hidden ones. Empty for a folder that cannot be read. */
async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}
