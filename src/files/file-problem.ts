/** What the operating system reports about a file or folder, in words. Never holds a path: it may be that of a temporary file. */
const PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'disk full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is too large',
  ERR_FS_FILE_TOO_LARGE: 'is too large to read at once',
  EISDIR: 'is a folder',
  EEXIST: 'already exists',
  EBUSY: 'in use by another process',
  ETXTBSY: 'in use by another process',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
  EIO: 'the device failed',
  ENXIO: 'no process reads from it',
  EPIPE: 'its reader has closed it',
};

const READ: Readonly<Record<string, string>> = { ENOENT: 'no such file', ENOTDIR: 'no such file' };

const WRITTEN: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of the path is not a folder',
  EINVAL: 'not a valid path',
};

const FOLDER: Readonly<Record<string, string>> = {
  ENOENT: 'no such folder',
  ENOTDIR: 'is not a folder',
  EEXIST: 'is not a folder',
};

/** Why a file could not be read. */
export function readProblem(error: unknown): string {
  return problemOf(error, READ);
}

/** Why a file could not be written or created. */
export function writeProblem(error: unknown): string {
  return problemOf(error, WRITTEN);
}

/** Why a folder could not be created or used. */
export function folderProblem(error: unknown): string {
  return problemOf(error, FOLDER);
}

function problemOf(error: unknown, own: Readonly<Record<string, string>>): string {
  const { code, message = String(error) } = error as NodeJS.ErrnoException;
  if (code === undefined) return message;
  return own[code] ?? PROBLEMS[code] ?? code;
}

/** Whether the disk, or what this user may take of it, is full. */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** Whether the operating system refused it because permissions are missing. */
export function isDenied(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EACCES' || code === 'EPERM' || code === 'EROFS';
}
