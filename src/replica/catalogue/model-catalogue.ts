import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readProblem } from '../../files/file-problem.js';
import { decodeText } from '../../files/text-encoding.js';
import { fileNotReadable, modelNotInCatalogue, noModelInFolder } from '../errors.js';
import { cataloguePath } from './catalogue-path.js';
import type { ModelSpec } from './contract.js';
import { parseModelConfig } from './parse-model-config.js';

export interface ModelOptions {
  /** A folder with the model's `config.json`, or a folder of such folders. It replaces the bundled catalogue. */
  modelConfigFolder?: string;
}

/** Loads a model by name; the organisation before the first slash is ignored. */
export function loadModel(name: string, options: ModelOptions = {}): ModelSpec {
  const lowerCased = name.toLowerCase();
  const file = configFile(lowerCased, options.modelConfigFolder);
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw fileNotReadable(file, readProblem(error));
  }
  return parseModelConfig(decodeText(bytes, file), file, lowerCased);
}

/** Folder names of the bundled models, in order. */
export function bundledModels(): string[] {
  return modelFolders(cataloguePath('models'));
}

function configFile(name: string, userFolder: string | undefined): string {
  const folder = name.slice(name.indexOf('/') + 1);
  if (userFolder === undefined) {
    const known = bundledModels();
    if (!known.includes(folder)) throw modelNotInCatalogue(name, folder, known);
    return join(cataloguePath('models'), folder, 'config.json');
  }
  const own = join(userFolder, 'config.json');
  if (existsSync(own)) return own;
  const known = modelFolders(userFolder);
  const found = known.find((entry) => entry.toLowerCase() === folder);
  if (found === undefined) throw noModelInFolder(name, folder, userFolder, known);
  return join(userFolder, found, 'config.json');
}

function modelFolders(parent: string): string[] {
  let entries: string[];
  try {
    entries = readdirSync(parent);
  } catch (error) {
    throw fileNotReadable(`--model-config-folder ${parent}`, readProblem(error));
  }
  return entries.filter((entry) => existsSync(join(parent, entry, 'config.json'))).sort();
}
