import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { canonicalJson } from '../../kernel/text/canonical-json.js';
import type { RunInputs } from '../experiment.js';
import { recordedFiles } from '../recipes/trace-recipe.js';

/** A shard as it is sent: the inputs by their hash, which all seeds of a point share. */
export interface ShardJob {
  hash: string;
  inputs: string;
  seed: number;
}

/** Inputs without paths of this machine. */
export interface PackedInputs {
  inputs: RunInputs;
  paths: readonly PackedPath[];
}

/** A file or folder that inputs name. */
export interface PackedPath {
  use: 'header' | 'data' | 'model' | 'gpu';
  /** Where it is below the folder that all share, or below the worker's own. */
  at: string;
  isShared: boolean;
  /** Empty where it is shared. */
  files: readonly PackedFile[];
}

export interface PackedFile {
  at: string;
  sha256: string;
  bytes: number;
}

/** A packed file with its place on this machine. */
export interface LocalFile extends PackedFile {
  path: string;
}

/**
 * Replaces paths by places and content.
 * @param sharedPath a folder that workers have too: what is below it is not sent
 * @param hashed of files that were packed before, by path
 */
export async function packInputs(
  run: RunInputs,
  sharedPath: string | null,
  hashed: Map<string, Promise<LocalFile>>,
): Promise<{ packed: PackedInputs; files: LocalFile[] }> {
  const { replica } = run.config;
  const { workload } = run;
  const used: [PackedPath['use'], string, readonly string[]][] = [];
  if (workload.kind === 'trace') {
    if (workload.header !== null) used.push(['header', workload.header, [workload.header]]);
    // A header beside the data, and rotated files, are found by their names.
    used.push(['data', workload.data, recordedFiles({ ...workload, header: workload.header ?? null })]);
  }
  if (replica.modelConfigFolder !== undefined)
    used.push(['model', replica.modelConfigFolder, [replica.modelConfigFolder]]);
  if (replica.hardwareConfig !== undefined) used.push(['gpu', replica.hardwareConfig, [replica.hardwareConfig]]);
  const files: LocalFile[] = [];
  const paths: PackedPath[] = [];
  for (const [use, path, parts] of used) {
    const shared = sharedPath === null ? null : below(sharedPath, path);
    if (shared !== null) {
      paths.push({ use, at: shared, isShared: true, files: [] });
      continue;
    }
    const own: LocalFile[] = [];
    for (const part of parts) {
      if (use === 'data' && part === (workload as { header?: string | null }).header) continue;
      own.push(...(await localFiles(part, use, hashed)));
    }
    files.push(...own);
    const sent = own.map(({ at, bytes, sha256 }) => ({ at, bytes, sha256 }));
    paths.push({ use, at: `${use}/${basename(path)}`, isShared: false, files: sent });
  }
  return { packed: { inputs: withPaths(run, 0, () => ''), paths }, files };
}

/** The inputs with a seed and other paths in place of theirs. */
export function withPaths(run: RunInputs, seed: number, pathOf: (use: PackedPath['use']) => string): RunInputs {
  const { modelConfigFolder, hardwareConfig, ...replica } = run.config.replica;
  const { workload } = run;
  return {
    ...run,
    config: {
      ...run.config,
      seed,
      replica: {
        ...replica,
        ...(modelConfigFolder === undefined ? {} : { modelConfigFolder: pathOf('model') }),
        ...(hardwareConfig === undefined ? {} : { hardwareConfig: pathOf('gpu') }),
      },
    },
    workload:
      workload.kind === 'trace'
        ? { ...workload, header: workload.header === null ? null : pathOf('header'), data: pathOf('data') }
        : workload,
  };
}

export function packedHash(packed: PackedInputs): { hash: string; text: string } {
  const text = canonicalJson(packed);
  return { hash: createHash('sha256').update(text).digest('hex'), text };
}

/** The path relative to a folder; null where it is not below it. */
function below(folder: string, path: string): string | null {
  const rest = relative(resolve(folder), resolve(path));
  return rest === '' || rest.startsWith(`..${sep}`) || rest === '..' || isAbsolute(rest)
    ? null
    : rest.split(sep).join('/');
}

/** A file, or the files of a folder, with their hashes. */
async function localFiles(path: string, use: string, hashed: Map<string, Promise<LocalFile>>): Promise<LocalFile[]> {
  const inFolder = (await stat(path)).isDirectory();
  const names = inFolder
    ? (await readdir(path, { withFileTypes: true }))
        .filter((one) => one.isFile())
        .map(({ name }) => name)
        .sort()
    : [''];
  return Promise.all(
    names.map((name) => {
      const file = join(path, name);
      const at = [use, basename(path), ...(name === '' ? [] : [name])].join('/');
      const known = hashed.get(`${at}\0${file}`) ?? hashFile(file, at);
      hashed.set(`${at}\0${file}`, known);
      return known;
    }),
  );
}

async function hashFile(path: string, at: string): Promise<LocalFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(path)) {
    hash.update(piece as Buffer);
    bytes += (piece as Buffer).length;
  }
  return { at, path, sha256: hash.digest('hex'), bytes };
}
