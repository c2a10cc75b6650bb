import { renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Writes a file under another name in the same folder and renames it, so that readers see the old content or the new
 * one and never a part. The temporary file is hidden, and is deleted when writing fails.
 * @param mode of the file that is written; the umask applies
 */
export function replaceFile(path: string, content: string, mode = 0o666): void {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  try {
    writeFileSync(temporary, content, { mode });
    renameSync(temporary, path);
  } catch (error) {
    try {
      unlinkSync(temporary);
    } catch {
      // It was not written: the first error is reported.
    }
    throw error;
  }
}

/** Replaces a file that only its owner may read: it holds a secret, or the identity of a process. */
export function replacePrivateFile(path: string, content: string): void {
  replaceFile(path, content, 0o600);
}
