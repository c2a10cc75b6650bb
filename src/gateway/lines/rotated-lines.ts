import { LF } from '../../kernel/text/ascii.js';
import { unwrittenLines } from '../errors.js';
import { RotatedFile } from './rotated-file.js';

const FLUSH_CHARACTERS = 64 * 1024;
/** More than this is not held for a slow reader of stderr. */
const MOST_WAITING_BYTES = 1024 * 1024;

export interface LinesOptions {
  /** A file, or `-` for stderr. */
  path: string;
  /** Of one file. */
  maxBytes: number;
  /** How many full files are kept besides the one that is written: `path.1`, the youngest, to `path.<files>`. */
  files: number;
  /** Called with the reason when lines are lost: once, until lines can be written again. */
  failed: (error: unknown) => void;
}

/** The destination of pieces of whole lines. */
interface Target {
  /** Writes lines from bytes[from, end), returns where the rest begins; throws when they cannot be written. */
  write(bytes: Buffer, from: number): number;
  close(): void;
}

/**
 * A log of lines readable by its owner only, written in pieces and rotated, so that neither memory nor disk grow.
 * Requests never wait for it and never fail because of it: a write error is reported once, the lost lines are counted,
 * and every further piece tries again. The caller calls `flush` at intervals.
 */
export class RotatedLines {
  readonly #path: string;
  readonly #target: Target;
  readonly #failed: (error: unknown) => void;
  #pending = '';
  #pendingLines = 0;
  #written = 0;
  #dropped = 0;
  #isBroken = false;
  #isClosed = false;

  /** Throws an InputError when the file cannot be opened. */
  constructor({ path, maxBytes, files, failed }: LinesOptions) {
    this.#path = path === '-' ? 'stderr' : path;
    this.#failed = failed;
    this.#target = path === '-' ? STDERR : new RotatedFile(path, maxBytes, files);
  }

  /** The last piece could not be written. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Lines written. */
  get written(): number {
    return this.#written;
  }

  /** Lines lost. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes a line, without its end. */
  write(line: string): void {
    if (this.#isClosed) {
      this.#dropped++;
      return;
    }
    this.#pending += line;
    this.#pending += '\n';
    this.#pendingLines++;
    if (this.#pending.length >= FLUSH_CHARACTERS) this.flush();
  }

  flush(): void {
    if (this.#pending === '') return;
    const bytes = Buffer.from(this.#pending);
    let lines = this.#pendingLines;
    this.#pending = '';
    this.#pendingLines = 0;
    try {
      for (let from = 0; from < bytes.length; ) {
        const end = this.#target.write(bytes, from);
        const gone = end === bytes.length ? lines : linesIn(bytes, from, end);
        this.#written += gone;
        lines -= gone;
        from = end;
      }
      this.#isBroken = false;
    } catch (error) {
      this.#dropped += lines;
      if (!this.#isBroken) this.#failed(unwrittenLines(this.#path, error, 'lines are dropped until it can'));
      this.#isBroken = true;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.flush();
    this.#isClosed = true;
    this.#target.close();
  }
}

/** Never waits for its reader. Errors of stderr itself are handled by the process. */
const STDERR: Target = {
  write(bytes, from) {
    if (process.stderr.writableLength > MOST_WAITING_BYTES) throw new Error('it is not being read');
    process.stderr.write(bytes.subarray(from));
    return bytes.length;
  },
  close() {},
};

function linesIn(bytes: Buffer, from: number, end: number): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF, from); at >= 0 && at < end; at = bytes.indexOf(LF, at + 1)) lines++;
  return lines;
}
