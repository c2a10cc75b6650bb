import { existsSync } from 'node:fs';

/**
 * The files of a recording, oldest first: what a gateway writes to `path` becomes `path.1` when it is full, `path.2` when the
 * next one is, and so on. Those that are named one by one stand for themselves.
 */
export function trafficFiles(path: string): string[] {
  const files = [path];
  for (let n = 1; existsSync(`${path}.${n}`); n++) files.unshift(`${path}.${n}`);
  return files;
}
