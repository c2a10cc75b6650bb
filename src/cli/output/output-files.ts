import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { writeProblem } from '../../files/file-problem.js';
import { outputFailed, overwrittenInput, resultNotWritten, sharedOutput, unwritableOutput } from '../errors.js';
import type { CliIo, CliStream } from '../io.js';
import { AtomicFile } from './atomic-file.js';

/** A path with the flag that named it. */
export interface NamedPath {
  flag: string;
  path: string;
}

/** A file's content, generated piece by piece when it is written. */
export interface OutputContent extends NamedPath {
  pieces: () => Iterable<string | Uint8Array>;
}

/** Checks before any work is done that all outputs can be written, and that none destroys another or an input. */
export function checkOutputs(outputs: readonly NamedPath[], inputs: readonly NamedPath[]): void {
  const owners = new Map<string, NamedPath>();
  const read = new Map(inputs.map((input) => [identity(input.path), input]));
  for (const output of outputs) {
    if (checkWritable(output) === 'device') continue;
    const place = identity(output.path);
    const owner = owners.get(place);
    if (owner !== undefined) throw sharedOutput(output.flag, owner.flag, output.path);
    const input = read.get(place);
    if (input !== undefined) throw overwrittenInput(output.flag, input.flag, output.path);
    owners.set(place, output);
  }
}

/** Writes all files or none: each appears only when all are complete. */
export async function writeOutputs(outputs: readonly OutputContent[], io: CliIo): Promise<void> {
  const files: AtomicFile[] = [];
  const discard = () => {
    for (const file of files) file.discard();
  };
  io.beforeSignal(discard);
  for (const output of outputs) {
    await guarded(output, discard, async () => {
      const file = new AtomicFile(output.path);
      files.push(file);
      for (const piece of output.pieces()) {
        file.write(piece);
        // Lets a signal through between two pieces.
        await new Promise(setImmediate);
      }
      file.close();
    });
  }
  for (const [i, file] of files.entries()) await guarded(outputs[i]!, discard, () => file.publish());
}

async function guarded(output: NamedPath, discard: () => void, work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    discard();
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw outputFailed(output.flag, output.path, writeProblem(error));
  }
}

function checkWritable({ flag, path }: NamedPath): 'file' | 'device' {
  const folder = dirname(path);
  try {
    const existing = statSync(path, { throwIfNoEntry: false });
    if (existing?.isDirectory() || /[/\\]$/.test(path)) {
      throw unwritableOutput(flag, path, 'is a folder', 'give the path of a file');
    }
    if (existing !== undefined) accessSync(path, constants.W_OK);
    if (existing !== undefined && !existing.isFile()) return 'device';
    const parent = statSync(folder, { throwIfNoEntry: false });
    if (parent === undefined) {
      throw unwritableOutput(
        flag,
        path,
        `the folder '${folder}' does not exist`,
        'create it first or give another path',
      );
    }
    if (!parent.isDirectory()) throw unwritableOutput(flag, path, `'${folder}' is not a folder`, 'give another path');
    accessSync(existing === undefined ? folder : dirname(realpathSync(path)), constants.W_OK | constants.X_OK);
    // Some file systems refuse new files although the folder looks writable.
    new AtomicFile(path).discard();
    return 'file';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw unwritableOutput(flag, path, writeProblem(error), 'give a path that may be written');
  }
}

/** The same for all spellings of the same place. */
function identity(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    try {
      return join(realpathSync(dirname(path)), basename(path));
    } catch {
      return resolve(path);
    }
  }
}

/** Reports why stdout could not be written and returns the exit code. A reader that closes the pipe (`| head`) is not an error. */
export function stdoutFailure(error: NodeJS.ErrnoException, stderr: CliStream): number {
  if (error.code === 'EPIPE') return 0;
  stderr.write(`twinyard: ${resultNotWritten(writeProblem(error)).message}\n`);
  return 1;
}
