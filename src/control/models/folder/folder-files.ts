import { type BigIntStats, readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelFile } from '../contract.js';
import { badChecksumLine, unsafeFile } from '../errors.js';
import { checkPaths } from '../safe-path.js';
import { realPathBelow } from './real-path.js';

/**
 * The files of a model folder ordered by path, without hidden ones. A symbolic link may point to a file elsewhere below the
 * registry's root, as in the caches of other programs; one that leads out of it is refused.
 */
export async function folderFiles(root: string, folder: string): Promise<ModelFile[]> {
  const found: { path: string; size: number; tag: string }[] = [];
  const visit = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue;
      const path = below + entry.name;
      const whole = join(folder, path);
      if (entry.isDirectory()) {
        await visit(`${path}/`);
        continue;
      }
      if (entry.isSymbolicLink()) await realPathBelow(root, whole, whole);
      const stats = await stat(whole, { bigint: true });
      if (!stats.isFile()) throw unsafeFile(whole, 'is neither a file nor a folder');
      found.push({ path, size: Number(stats.size), tag: changeTag(stats) });
    }
  };
  await visit('');
  found.sort((a, b) => (a.path < b.path ? -1 : 1));
  checkPaths(
    folder,
    found.map(({ path }) => path),
  );
  const list = found.some(({ path }) => path === CHECKSUM_LIST) ? join(folder, CHECKSUM_LIST) : undefined;
  const sums = list === undefined ? undefined : readChecksumList(readFileSync(list, 'utf8'), list);
  return found.map((file) => {
    const hex = sums?.get(file.path);
    return { ...file, checksum: hex === undefined ? null : { algorithm: 'sha256', hex } };
  });
}

/** Changes when a file is written. */
export function changeTag(stats: BigIntStats): string {
  return `${stats.size}-${stats.mtimeNs}`;
}

/** The format of `sha256sum`, in a file beside those that it lists. */
const CHECKSUM_LIST = 'SHA256SUMS';

const LINE = /^([0-9a-fA-F]{64}) [ *](?:\.\/)?(.+)$/;

/** SHA-256 in hexadecimal digits by path. */
function readChecksumList(text: string, file: string): Map<string, string> {
  const sums = new Map<string, string>();
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const match = LINE.exec(line.trimEnd());
    if (match === null) throw badChecksumLine(file, i + 1);
    sums.set(match[2]!, match[1]!.toLowerCase());
  }
  return sums;
}
