import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { knownNames } from '../../../kernel/nearest-name.js';
import type { ModelListing } from '../contract.js';
import { modelNotFound, versionNeeded, versionNotFound } from '../errors.js';

const CONFIG = 'config.json';
const WEIGHTS = /\.(?:safetensors|gguf)$/;
/** What the version of a model without versions is called. */
const ONLY_VERSION = 'main';
/** What is taken if nobody asks for a version. */
const USUAL_VERSIONS = ['latest', ONLY_VERSION];

/** Whether a folder is a model: a config or weights are directly in it. */
async function isModelFolder(folder: string): Promise<boolean> {
  const entries = await readdir(folder).catch(() => []);
  return entries.some((name) => name === CONFIG || WEIGHTS.test(name));
}

/** The folders in a folder that are models, in order. */
async function modelsIn(folder: string): Promise<string[]> {
  const models: string[] = [];
  for (const name of await foldersIn(folder)) if (await isModelFolder(join(folder, name))) models.push(name);
  return models;
}

/**
 * Every model below a root: `tiny` is a model, or has versions in it that are; so may `acme/tiny`. What could be a version
 * of `acme` or a model `acme/tiny` is listed as the former, and found under both.
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

/** Where a model is, and which version that is. `place` is what errors call it. */
export async function findModelFolder(
  root: string,
  name: string,
  asked: string | undefined,
  place: string,
): Promise<{ folder: string; version: string }> {
  const home = join(root, name);
  const isPlain = await isModelFolder(home);
  const versions = await modelsIn(home);
  if (!isPlain && versions.length === 0) {
    const known = (await listModelFolders(root)).map((model) => model.name);
    throw modelNotFound(place, known.length === 0 ? 'the folder has no models' : knownNames(name, known));
  }
  if (asked !== undefined && (await isModelFolder(join(home, asked)))) {
    return { folder: join(home, asked), version: asked };
  }
  if (isPlain && (asked ?? ONLY_VERSION) === ONLY_VERSION) return { folder: home, version: ONLY_VERSION };
  if (asked !== undefined) {
    throw versionNotFound(place, asked, knownNames(asked, isPlain ? [ONLY_VERSION, ...versions] : versions));
  }
  const usual = USUAL_VERSIONS.find((one) => versions.includes(one));
  if (usual === undefined && versions.length > 1) throw versionNeeded(place, versions);
  const version = usual ?? versions[0]!;
  return { folder: join(home, version), version };
}

/** Folders and links, without those that begin with a dot. A folder that cannot be read has none. */
async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}
