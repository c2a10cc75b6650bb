import { chmod, lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unusableCache } from '../errors.js';

/** Creates a folder below another, level by level. A symbolic link on the way is refused: it would lead elsewhere. */
export async function ensureFolder(root: string, below: string): Promise<string> {
  let folder = root;
  for (const part of below.split('/')) {
    folder = join(folder, part);
    try {
      await mkdir(folder);
      // The root of the cache decides who may pass: engines may run as another user.
      await chmod(folder, 0o755);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (!(await lstat(folder)).isDirectory()) throw unusableCache(folder, 'is not a folder');
    }
  }
  return folder;
}
