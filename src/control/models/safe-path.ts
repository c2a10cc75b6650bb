import { unsafeFile } from './errors.js';

/** Limits of file systems, in bytes. */
const MOST_PART_BYTES = 255;
const MOST_PATH_BYTES = 1024;
/** Control characters, and separators of other systems. */
const REFUSED = /[\p{Cc}\\:]/u;

/** Why a path from a registry cannot be used below a local folder; undefined if it can. */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (Buffer.byteLength(path) > MOST_PATH_BYTES) return `is longer than ${MOST_PATH_BYTES} bytes`;
  if (REFUSED.test(path)) return 'has a character that file names may not have';
  for (const part of path.split('/')) {
    if (part === '') return "begins or ends with '/', or has two in a row";
    if (part === '.' || part === '..') return `has a part '${part}'`;
    if (Buffer.byteLength(part) > MOST_PART_BYTES) return `has a part longer than ${MOST_PART_BYTES} bytes`;
  }
  return undefined;
}

/** Throws unless these can all be files of one folder: valid paths, no duplicates, none a folder of another. */
export function checkPaths(place: string, paths: readonly string[]): void {
  const files = new Set<string>();
  for (const path of paths) {
    const problem = pathProblem(path) ?? (files.has(path) ? 'is listed twice' : undefined);
    if (problem !== undefined) throw unsafeFile(`${place} (file ${JSON.stringify(path)})`, problem);
    files.add(path);
  }
  for (const path of paths) {
    for (let cut = path.indexOf('/'); cut >= 0; cut = path.indexOf('/', cut + 1)) {
      if (!files.has(path.slice(0, cut))) continue;
      throw unsafeFile(`${place} (file ${JSON.stringify(path)})`, 'is below a path that is itself a file');
    }
  }
}
