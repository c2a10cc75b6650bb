import type { Trace, TracePart } from '../trace.js';

/** What a format is recognised by. */
export interface FileStart {
  path: string;
  /** The path is a folder; there is no text then. */
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
  /** What a file of this format starts with, for the message when no format matches. */
  looksLike: string;
  /** Whether a file that starts like this has this format. At most one format matches. */
  detect(start: FileStart): boolean;
  /**
   * Reads the whole trace, requests in file order, through a window of a few megabytes. Throws an InputError with file,
   * line and column where something is wrong.
   */
  read(path: string): Promise<Trace>;
  /** Reads a part of the trace. Missing for formats that record neither models nor outcomes. */
  readPart?(path: string, part: TracePart): Promise<Trace>;
  /** Every file that a trace consists of, where that may be more than one. */
  files?(path: string): string[];
}
