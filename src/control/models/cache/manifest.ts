import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelFile, ResolvedModel } from '../contract.js';

/** The content of a cache folder. Written beside the files, before the first of them. */
export interface Manifest {
  /** The registry's address. */
  readonly registry: string;
  readonly name: string;
  readonly version: string;
  readonly revision: string;
  readonly files: readonly ModelFile[];
}

const MANIFEST = 'model.json';

export function manifestOf(registry: string, model: ResolvedModel, files: readonly ModelFile[]): Manifest {
  const { name, revision, version } = model;
  return { registry, name, version, revision, files };
}

/** Identifies these files of this registry. The version is not part of it: branches move. */
export function manifestId({ files, name, registry, revision }: Manifest): string {
  const facts = files.map(({ checksum, path, size, tag }) => [path, size, checksum?.hex ?? tag]);
  const digest = createHash('sha256').update(JSON.stringify([registry, name, revision, facts]));
  return `${revision.slice(0, 12)}-${digest.digest('hex').slice(0, 12)}`;
}

/** A model's name as a folder name. */
export function nameFolder(name: string): string {
  return name.replaceAll('/', '--');
}

export function totalBytes({ files }: Pick<Manifest, 'files'>): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Null when there is none, or none that can be read. */
export async function readManifest(folder: string): Promise<Manifest | null> {
  try {
    return JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')) as Manifest;
  } catch {
    return null;
  }
}
