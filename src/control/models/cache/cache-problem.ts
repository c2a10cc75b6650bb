import { diskFull, unusableCache } from '../errors.js';

const PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'no permission to write there',
  EPERM: 'no permission to write there',
  EROFS: 'cannot be written to',
  ENOTDIR: 'is not a folder',
  EEXIST: 'is not a folder',
  ELOOP: 'is a link where a file should be',
};

/** What the system says of the cache folder, in our words; anything else stays what it is. */
export function cacheProblem(error: unknown, folder: string, needed = 0): unknown {
  const { code, path = folder, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFull(folder, needed, null);
  return unusableCache(path, PROBLEMS[code] ?? code);
}
