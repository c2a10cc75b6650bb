import { COLON, CR, LF, SPACE } from '../../kernel/text/ascii.js';

const DATA = Buffer.from('data');
const EVENT = Buffer.from('event');

/** Larger than any event an engine sends, small enough that a stream without line ends cannot take the memory. */
const MAX_EVENT_BYTES = 4 * 1024 * 1024;
/** A scanner that is used again keeps room for usual events only. */
const KEPT_BYTES = 16 * 1024;

const NO_BYTES = Buffer.alloc(0);

/** Receives the events of a stream. */
export interface SseSink {
  /**
   * One event: its data is bytes[from..to), lines joined by LF, valid during the call only. In the stream, counted in
   * bytes from its beginning, the event is [start..end): it starts where the last blank line ended.
   */
  event(bytes: Uint8Array, from: number, to: number, end: number, start: number): void;
}

/**
 * Finds server-sent events in a stream of byte chunks, split at any byte. Bytes are read in place;
 * only what a chunk leaves unfinished is copied. Lines may end in LF, CRLF or CR; comments, other fields and events
 * without data are skipped, and so is a byte order mark.
 *
 * A CR ends a line at once, without waiting for the LF that may follow: such an LF belongs to no event.
 */
export class SseScanner {
  /** Events with more data than the limit: skipped, not reported. */
  oversized = 0;
  /** The name of the event that is being reported; empty when it has none, or when names are not read. */
  eventName = '';
  readonly #sink: SseSink;
  readonly #limit: number;
  readonly #readsNames: boolean;
  /** Bytes of the stream before the current chunk. */
  #before = 0;
  /** The line that the last chunk left unfinished, without what exceeds the limit; its true length. */
  #line: Buffer = NO_BYTES;
  #lineLength = 0;
  /** Data of the current event: its place, its number of lines, and whether it is too large to keep. */
  #data: Uint8Array = this.#line;
  #dataFrom = 0;
  #dataTo = 0;
  #dataLines = 0;
  #tooLong = false;
  /** Room for data that no chunk holds in one piece. */
  #kept: Buffer = this.#line;
  #skipLf = false;
  #isFirstLine = true;
  /** Where the last blank line ended. */
  #boundary = 0;

  /** @param readsNames whether `eventName` is set, which takes a string per event */
  constructor(sink: SseSink, maxEventBytes = MAX_EVENT_BYTES, readsNames = false) {
    this.#sink = sink;
    this.#limit = maxEventBytes;
    this.#readsNames = readsNames;
  }

  /**
   * Whether the stream is inside an event, or anywhere else but after a blank line: if it ends now, it was cut
   * off.
   */
  get unfinished(): boolean {
    return this.#before > this.#boundary;
  }

  /** Bytes of the stream so far. */
  get length(): number {
    return this.#before;
  }

  /** Where in the stream the last blank line ended, with its line end. */
  get boundary(): number {
    return this.#boundary;
  }

  /** Resets it for another stream. */
  reset(): void {
    this.oversized = 0;
    this.eventName = '';
    this.#before = 0;
    this.#lineLength = 0;
    if (this.#line.length > KEPT_BYTES) this.#line = NO_BYTES;
    if (this.#kept.length > KEPT_BYTES) this.#kept = NO_BYTES;
    this.#data = this.#kept;
    this.#dataLines = 0;
    this.#tooLong = false;
    this.#skipLf = false;
    this.#isFirstLine = true;
    this.#boundary = 0;
  }

  push(chunk: Uint8Array): void {
    const { length } = chunk;
    let at = 0;
    let lf = -1;
    let cr = -1;
    while (at < length) {
      if (this.#skipLf) {
        this.#skipLf = false;
        if (chunk[at] === LF) {
          if (this.#boundary === this.#before + at) this.#boundary++;
          at++;
          continue;
        }
      }
      if (lf < at) lf = chunk[at] === LF ? at : nextOf(chunk, LF, at);
      if (cr < at) cr = nextOf(chunk, CR, at);
      const end = Math.min(lf, cr);
      if (end === length) {
        this.#keepLine(chunk, at, length);
        break;
      }
      this.#skipLf = end === cr;
      this.#endLine(chunk, at, end);
      at = end + 1;
    }
    this.#before += length;
    if (this.#dataLines > 0 && this.#data !== this.#kept) this.#keepData();
  }

  #endLine(chunk: Uint8Array, from: number, to: number): void {
    if (this.#lineLength > 0) {
      this.#keepLine(chunk, from, to);
      const length = this.#lineLength;
      this.#lineLength = 0;
      // What exceeds the limit was not kept: too long for its event if it is data, and of no interest if it is not.
      this.#readLine(this.#line, 0, Math.min(length, this.#line.length), this.#before + to + 1);
    } else {
      this.#readLine(chunk, from, to, this.#before + to + 1);
    }
  }

  #readLine(bytes: Uint8Array, start: number, to: number, end: number): void {
    let from = start;
    if (this.#isFirstLine) {
      this.#isFirstLine = false;
      if (bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf) from += 3;
    }
    if (from >= to) this.#endEvent(end);
    else if (isField(DATA, bytes, from, to)) this.#addData(bytes, valueStart(DATA, bytes, from, to), to);
    else if (this.#readsNames && isField(EVENT, bytes, from, to)) {
      const name = bytes.subarray(valueStart(EVENT, bytes, from, to), to);
      this.eventName = Buffer.from(name.buffer, name.byteOffset, name.length).toString('utf8');
    }
  }

  #addData(bytes: Uint8Array, from: number, to: number): void {
    if (this.#dataLines++ === 0) {
      this.#data = bytes;
      this.#dataFrom = from;
      this.#dataTo = to;
      if (to - from > this.#limit) this.#tooLong = true;
      // The buffer of the unfinished line is reused for the next one.
      if (bytes === this.#line) this.#keepData();
      return;
    }
    if (this.#data !== this.#kept) this.#keepData();
    const length = this.#dataTo + 1 + to - from;
    if (length > this.#limit) this.#tooLong = true;
    if (this.#tooLong) return;
    if (length > this.#kept.length) this.#kept = grown(this.#kept, length, this.#dataTo);
    this.#data = this.#kept;
    this.#kept[this.#dataTo] = LF;
    this.#kept.set(bytes.subarray(from, to), this.#dataTo + 1);
    this.#dataTo = length;
  }

  #endEvent(end: number): void {
    const start = this.#boundary;
    this.#boundary = end;
    if (this.#dataLines > 0) {
      this.#dataLines = 0;
      if (this.#tooLong) {
        this.#tooLong = false;
        this.oversized++;
      } else this.#sink.event(this.#data, this.#dataFrom, this.#dataTo, end, start);
    }
    this.eventName = '';
  }

  /** Copies the event's data out of a buffer that will be reused. */
  #keepData(): void {
    const length = this.#tooLong ? 0 : this.#dataTo - this.#dataFrom;
    if (length > this.#kept.length) this.#kept = grown(this.#kept, length, 0);
    if (length > 0) this.#kept.set(this.#data.subarray(this.#dataFrom, this.#dataTo), 0);
    this.#data = this.#kept;
    this.#dataFrom = 0;
    this.#dataTo = length;
  }

  #keepLine(chunk: Uint8Array, from: number, to: number): void {
    const have = Math.min(this.#lineLength, this.#line.length);
    this.#lineLength += to - from;
    // Room for the name of the field beyond the data.
    const wanted = Math.min(this.#lineLength, this.#limit + 16);
    if (wanted > this.#line.length) this.#line = grown(this.#line, wanted, have, this.#limit + 16);
    const fits = Math.min(to, from + this.#line.length - have);
    if (fits > from) this.#line.set(chunk.subarray(from, fits), have);
  }
}

/** Where the byte comes next; the chunk's length when it does not come again. */
function nextOf(chunk: Uint8Array, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from);
  return at < 0 ? chunk.length : at;
}

/** Whether a line is this field: its name alone, or followed by a colon. */
function isField(name: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  const { length } = name;
  if (to - from < length || (to - from > length && bytes[from + length] !== COLON)) return false;
  for (let i = 0; i < length; i++) if (bytes[from + i] !== name[i]) return false;
  return true;
}

/** Where the value of a field starts: after its colon, and after one space if there is one. */
function valueStart(name: Uint8Array, bytes: Uint8Array, from: number, to: number): number {
  const colon = from + name.length;
  return Math.min(to, bytes[colon + 1] === SPACE ? colon + 2 : colon + 1);
}

function grown(old: Buffer, least: number, used: number, most = Number.POSITIVE_INFINITY): Buffer {
  const next = Buffer.allocUnsafe(Math.min(most, Math.max(least, old.length * 2, 512)));
  next.set(old.subarray(0, used), 0);
  return next;
}
