import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readProblem, writeProblem } from '../../files/file-problem.js';
import { unusableRecordingKey, unwritableLog } from '../errors.js';

const KEY_BYTES = 32;

/** A new key for an installation's recordings: to be kept in its store. */
export function newRecordingKey(): Buffer {
  return randomBytes(KEY_BYTES);
}

/**
 * The key in a file, created when it is missing: for installations without a store. With another key the same prompts
 * have other ids, so it is kept beside the recording, readable by its owner only; it must not be shared with the
 * recording.
 */
export function readRecordingKey(path: string): Buffer {
  let text = contentOf(path);
  if (text === '') {
    create(path);
    text = contentOf(path);
  }
  if (!/^[0-9a-f]{64}$/.test(text)) throw unusableRecordingKey(path, 'does not hold 64 hexadecimal digits');
  return Buffer.from(text, 'hex');
}

/** Written under another name first: a full disk, or a process that is killed, leaves no file that is not whole. */
function create(path: string): void {
  const beside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(beside, `${newRecordingKey().toString('hex')}\n`, { flag: 'wx', mode: 0o600 });
    // Another process may have been first: its key counts. A file that was left empty does not.
    if (!existsSync(path)) linkSync(beside, path);
    else renameSync(beside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritableLog(path, writeProblem(error));
  } finally {
    rmSync(beside, { force: true });
  }
}

/** Empty where there is none. */
function contentOf(path: string): string {
  try {
    return existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  } catch (error) {
    throw unusableRecordingKey(path, `cannot be read (${readProblem(error)})`);
  }
}
