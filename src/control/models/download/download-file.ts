import { backOff } from '../back-off.js';
import type { Clock, ModelFile, ModelRegistry, ResolvedModel } from '../contract.js';
import { fileChanged, interrupted, isTransient, type ModelError, wrongChecksum } from '../errors.js';
import { PartialFile } from './partial-file.js';

/** Called with the change in bytes; negative when a file is started again. */
export type CountBytes = (change: number, received: boolean) => void;

export interface FileDownload {
  readonly registry: ModelRegistry;
  readonly model: ResolvedModel;
  readonly file: ModelFile;
  /** Its path until it is complete. */
  readonly path: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly count: CountBytes;
}

/**
 * Downloads one file; resolves when it is complete, verified and on the disk. An interrupted download is continued where it ended, at
 * once and by the next call; if bytes of an earlier download turn out wrong, the file is downloaded once more.
 */
export async function downloadFile({ clock, count, file, model, path, registry, signal }: FileDownload): Promise<void> {
  const place = `${registry.address}: ${model.name} (file ${JSON.stringify(file.path)})`;
  const partial = await PartialFile.open(path, file, signal, (bytes) => count(bytes, false));
  try {
    for (let failures = 0; ; ) {
      if (partial.bytes === file.size) {
        if (await partial.isVerified()) return;
        if (!partial.continued) throw wrongChecksum(place, file.checksum!.algorithm);
        await restart(partial, count);
      }
      const before = partial.bytes;
      try {
        await receive();
      } catch (error) {
        signal.throwIfAborted();
        if (!isWorthWaiting(error)) throw error;
        // A failure after progress counts as the first one.
        failures = partial.bytes > before ? 1 : failures + 1;
        await backOff(error, failures, clock, signal);
      }
    }
  } finally {
    await partial.close();
  }

  async function receive(): Promise<void> {
    const { begins, bytes } = await registry.open(model, file, partial.bytes, signal);
    if (begins !== partial.bytes) await restart(partial, count);
    for await (const piece of bytes) {
      signal.throwIfAborted();
      if (partial.bytes + piece.length > file.size) throw fileChanged(place, `is longer than ${file.size} bytes`);
      await partial.append(piece);
      count(piece.length, true);
    }
    if (partial.bytes < file.size) throw interrupted(place, partial.bytes, file.size);
  }
}

async function restart(partial: PartialFile, count: CountBytes): Promise<void> {
  count(-partial.bytes, false);
  await partial.restart();
}

/** A file that has changed must be resolved again first. */
function isWorthWaiting(error: unknown): error is ModelError {
  return isTransient(error) && error.code !== 'MODEL_FILE_CHANGED';
}
