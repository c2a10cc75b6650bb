import { existsSync } from 'node:fs';

/**
 * The files of a recording, oldest first: rotation renames a full `path` to `path.1`, the next one to `path.2`, and so
 * on. A rotated file that is given by name is read alone.
 */
export function trafficFiles(path: string): string[] {
  const files = [path];
  for (let n = 1; existsSync(`${path}.${n}`); n++) files.unshift(`${path}.${n}`);
  return files;
}
