import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { unsafeFile } from '../errors.js';

/** The target of a path with all links followed. Throws when it is outside the root, which must be a real path. */
export async function realPathBelow(root: string, path: string, place: string): Promise<string> {
  const real = await realpath(path);
  if (!real.startsWith(root === sep ? root : root + sep)) throw unsafeFile(place, 'leads out of the registry folder');
  return real;
}
