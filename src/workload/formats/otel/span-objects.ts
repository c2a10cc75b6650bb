import { BACKSLASH, COLON, COMMA, LF, QUOTE } from '../../../kernel/text/ascii.js';
import { fieldInvalid } from '../../errors.js';
import { inputChunks } from '../../input-chunks.js';

const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Bytes between strings and brackets: white space, numbers, true, false, null. */
const PLAIN = new Uint8Array(256);
for (const byte of Buffer.from(' \t\r\n0123456789+-.eEtrufalsn')) PLAIN[byte] = 1;

/** Longer names are ignored. */
const NAME_BYTES = 16;
const IS_LIST = 1;
const IS_SPANS = 2;

export interface SpanText {
  text: string;
  /** Where it begins, both from 1. */
  line: number;
  column: number;
}

/**
 * Passes on the text of every object in a list called `spans`, at any depth, from one JSON document, from one per line,
 * or from a list of them. Only the current object is held, so a document may be larger than memory.
 */
export async function forEachSpan(path: string, use: (span: SpanText) => void): Promise<void> {
  const scan = new SpanScan(path, use);
  for await (const chunk of inputChunks(path)) scan.read(chunk);
  scan.end();
}

/** The same for bytes in chunks. */
export class SpanScan {
  readonly #path: string;
  readonly #use: (span: SpanText) => void;
  /** The open brackets, outermost first: 0 for an object, IS_LIST, IS_SPANS. */
  readonly #open: number[] = [];
  /** The string read last, or its beginning. */
  readonly #name = Buffer.alloc(NAME_BYTES + 1);
  #nameLength = 0;
  #inString = false;
  #escaped = false;
  /** The last byte that was neither white space nor inside a string. */
  #last = 0;
  #line = 1;
  /** Bytes before the current line, and before the current chunk. */
  #lineBegin = 0;
  #chunkBegin = 0;
  /** The current document: where it begins, and whether it has a list of spans so far. */
  #document = '';
  #hasSpans = false;
  /** The open span: its depth, or 0; where it begins; its bytes from earlier chunks. */
  #spanDepth = 0;
  #span = { line: 0, column: 0 };
  #pieces: Buffer[] = [];

  constructor(path: string, use: (span: SpanText) => void) {
    this.#path = path;
    this.#use = use;
  }

  read(chunk: Buffer): void {
    let spanBegin = 0;
    const isMarked = this.#chunkBegin === 0 && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf;
    for (let p = isMarked ? 3 : 0; p < chunk.length; p++) {
      const byte = chunk[p]!;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
        if (this.#inString && this.#nameLength <= NAME_BYTES) this.#name[this.#nameLength++] = byte;
        continue;
      }
      if (PLAIN[byte] === 1) {
        if (byte === LF) {
          this.#line++;
          this.#lineBegin = this.#chunkBegin + p + 1;
        }
        continue;
      }
      if (byte === QUOTE) {
        this.#inString = true;
        this.#nameLength = 0;
      } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        if (this.#opens(byte, p)) spanBegin = p;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        if (this.#closes(byte, p)) this.#finish(chunk.subarray(spanBegin, p + 1));
      } else if (byte !== COMMA && byte !== COLON) {
        throw this.#wrong(p, `unexpected character '${String.fromCharCode(byte)}'`);
      }
      this.#last = byte;
    }
    if (this.#spanDepth > 0) this.#pieces.push(Buffer.from(chunk.subarray(spanBegin)));
    this.#chunkBegin += chunk.length;
  }

  end(): void {
    if (this.#open.length === 0 && !this.#inString) return;
    const problem = 'the file ends in the middle of its JSON';
    throw fieldInvalid(`${this.#path}:${this.#line}`, problem, 'export or copy the file again');
  }

  /** Whether a span begins here. */
  #opens(byte: number, p: number): boolean {
    const open = this.#open;
    const inSpans = open[open.length - 1] === IS_SPANS;
    let kind = 0;
    if (byte === OPEN_LIST) {
      const name = this.#last === COLON ? this.#name.toString('latin1', 0, this.#nameLength) : '';
      kind = name === 'spans' && this.#spanDepth === 0 ? IS_SPANS : IS_LIST;
      if (name === 'spans' || name === 'resourceSpans') this.#hasSpans = true;
    }
    if (open.length === 0) this.#document = this.#place(p);
    open.push(kind);
    if (byte !== OPEN_OBJECT || !inSpans) return false;
    this.#spanDepth = open.length;
    this.#span = { line: this.#line, column: this.#column(p) };
    return true;
  }

  /** Whether a span ends here. */
  #closes(byte: number, p: number): boolean {
    const open = this.#open;
    const kind = open.pop();
    if (kind === undefined) throw this.#wrong(p, `'${String.fromCharCode(byte)}' closes nothing`);
    if ((kind === 0) !== (byte === CLOSE_OBJECT)) {
      throw this.#wrong(p, `'${String.fromCharCode(byte)}' where '${kind === 0 ? '}' : ']'}' was expected`);
    }
    if (open.length === 0) {
      if (!this.#hasSpans) throw fieldInvalid(this.#document, 'this JSON holds no spans', 'put it into another file');
      this.#hasSpans = false;
    }
    return this.#spanDepth > 0 && open.length === this.#spanDepth - 1;
  }

  #finish(lastPiece: Buffer): void {
    const bytes = this.#pieces.length === 0 ? lastPiece : Buffer.concat([...this.#pieces, lastPiece]);
    this.#pieces = [];
    this.#spanDepth = 0;
    this.#use({ text: bytes.toString('utf8'), ...this.#span });
  }

  #column(p: number): number {
    return this.#chunkBegin + p - this.#lineBegin + 1;
  }

  #place(p: number): string {
    return `${this.#path}:${this.#line}:${this.#column(p)}`;
  }

  #wrong(p: number, problem: string): Error {
    return fieldInvalid(this.#place(p), problem, 'write the spans as JSON');
  }
}
