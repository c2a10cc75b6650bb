import { isUtf8 } from 'node:buffer';
import { QUOTE } from '../../kernel/text/ascii.js';
import type { JsonObject } from '../json/json-body.js';
import { JsonScanner, type Spans } from '../json/json-scanner.js';

/** The fields that the gateway reads; the engine gets all of them. */
const FIELDS = [
  'model',
  'stream',
  'stream_options',
  'max_completion_tokens',
  'max_tokens',
  'max_output_tokens',
  'n',
  'prompt_cache_key',
  'previous_response_id',
  'user',
  'cache_salt',
  'tools',
  'messages',
  'system',
  'instructions',
  'input',
  'prompt',
  'query',
  'documents',
  'text_1',
  'text_2',
] as const;

export type BodyField = (typeof FIELDS)[number];

const NUMBERS = new Map<string, number>(FIELDS.map((name, field) => [name, field]));

/** The most bytes of a part of a body that are parsed at once: a few milliseconds. */
export const MOST_PARSED = 128 * 1024;
/** The most bytes of a whole body that are parsed, for policies that read text. */
export const MOST_READ_AS_TEXT = 1024 * 1024;
/** The most bytes of a field that is a name, and of one that is a number or a few options. */
const MOST_NAME = 64 * 1024;
const MOST_OPTIONS = 4 * 1024;

/** The body of a request: its bytes, and where its fields are in them. No parsed copy is kept. */
export class ScannedBody {
  readonly bytes: Buffer;
  readonly #spans: Spans;
  #isUtf8: boolean | null = null;

  constructor(bytes: Buffer, spans: Spans) {
    this.bytes = bytes;
    this.#spans = spans;
  }

  /** Where the value of a field begins; -1 when it is absent. */
  begin(field: BodyField): number {
    return this.#spans.begins[NUMBERS.get(field)!]!;
  }

  end(field: BodyField): number {
    return this.#spans.ends[NUMBERS.get(field)!]!;
  }

  has(field: BodyField): boolean {
    return this.begin(field) >= 0;
  }

  /** The value of a field that is expected to be short: undefined when it is absent or longer than such a field is. */
  value(field: BodyField): unknown {
    const begin = this.begin(field);
    if (begin < 0) return undefined;
    const end = this.end(field);
    const most = this.bytes[begin] === QUOTE ? MOST_NAME : MOST_OPTIONS;
    return end - begin > most ? undefined : this.parse(begin, end);
  }

  /** The value at [begin, end), undefined when it is longer than `MOST_PARSED`. */
  parse(begin: number, end: number): unknown {
    return end - begin > MOST_PARSED ? undefined : JSON.parse(this.bytes.toString('utf8', begin, end));
  }

  /** The whole body, for policies that read text; null when it is longer than `MOST_READ_AS_TEXT`. */
  parsed(): JsonObject | null {
    const { bytes } = this;
    return bytes.length > MOST_READ_AS_TEXT ? null : (JSON.parse(bytes.toString('utf8')) as JsonObject);
  }

  /** The same fields in changed bytes: everything after a place has moved. */
  moved(bytes: Buffer, after: number): ScannedBody {
    const by = bytes.length - this.bytes.length;
    const place = (at: number): number => (at > after ? at + by : at);
    const { begins, ends, long } = this.#spans;
    const moved = long === null ? null : new Map([...long].map(([begin, end]) => [place(begin), place(end)]));
    return new ScannedBody(bytes, { begins: begins.map(place), ends: ends.map(place), long: moved });
  }

  /** Where a value that begins at a place ends, if it is long; undefined for a short one. */
  longEnd(begin: number): number | undefined {
    return this.#spans.long?.get(begin);
  }

  /** Whether all of it is valid UTF-8: strings can be copied as it is. */
  get isUtf8(): boolean {
    this.#isUtf8 ??= isUtf8(this.bytes);
    return this.#isUtf8;
  }
}

/** Scans a body while it arrives. Throws an ApiError for a body that is not a JSON object. */
export class BodyScanner {
  readonly #scanner = new JsonScanner(FIELDS);

  /** bytes[0, length) have arrived. */
  scan(bytes: Buffer, length: number): void {
    this.#scanner.scan(bytes, length);
  }

  /** @param bytes the whole body */
  end(bytes: Buffer): ScannedBody {
    return new ScannedBody(bytes, this.#scanner.end(bytes, bytes.length));
  }

  reset(): void {
    this.#scanner.reset();
  }
}

const shared = new BodyScanner();

/** Scans a body that has arrived. */
export function scanBody(bytes: Buffer): ScannedBody {
  shared.reset();
  return shared.end(bytes);
}
