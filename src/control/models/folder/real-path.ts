import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { unsafeFile } from '../errors.js';

/** Where a path really leads, links followed. Throws when that is outside the root, which is a real path itself. */
export async function realPathBelow(root: string, path: string, place: string): Promise<string> {
  const real = await realpath(path);
  if (!real.startsWith(root === sep ? root : root + sep))
    throw unsafeFile(place, 'leads out of the folder of the registry');
  return real;
}
