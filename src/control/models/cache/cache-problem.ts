import { folderProblem, isDiskFull } from '../../../files/file-problem.js';
import { diskFull, unusableCache } from '../errors.js';

/** What the operating system reports about the cache folder, as an error of the cache; any other error stays as it is. */
export function cacheProblem(error: unknown, folder: string, needed = 0): unknown {
  const { code, path = folder, syscall } = error as NodeJS.ErrnoException;
  if (code?.startsWith('SQLITE_')) return unusableCache(folder, `cannot be locked (${code})`);
  if (code === undefined || syscall === undefined) return error;
  if (isDiskFull(error)) return diskFull(folder, needed, null);
  // Files are opened without following links.
  return unusableCache(path, code === 'ELOOP' ? 'is a symbolic link' : folderProblem(error));
}
