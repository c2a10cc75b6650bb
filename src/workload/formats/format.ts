import type { Trace, TracePart } from '../trace.js';

/** What a format is recognised by. */
export interface FileStart {
  path: string;
  /** The path is a folder; then there is no text. */
  isFolder: boolean;
  /** The first bytes, unpacked if the file is gzipped, at most 64 KB. */
  bytes: Buffer;
  /** The same as text, without a byte order mark. */
  text: string;
}

/** A kind of trace file: one file with its reader, and one line in the registry. */
export interface TraceFormat {
  /** As messages and `twinyard convert` name it. */
  name: string;
  /** One sentence for help texts. */
  summary: string;
  /** What a file of this format starts with, in words: told when no format fits. */
  looksLike: string;
  /** Whether something that starts like this is of this format. At most one format says so. */
  detect(start: FileStart): boolean;
  /**
   * Reads the whole trace, requests in file order, through a window: of the file itself no more than a few megabytes are
   * held at a time. Throws an InputError with file, line, column where something is wrong.
   */
  read(path: string): Promise<Trace>;
  /** Reads a part alone; formats that do not say who asked for what, and what came of it, cannot. */
  readPart?(path: string, part: TracePart): Promise<Trace>;
  /** Every file that a trace consists of, where that may be more than one. */
  files?(path: string): string[];
}
