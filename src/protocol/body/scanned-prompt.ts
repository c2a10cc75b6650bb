import { createHash } from 'node:crypto';
import type { ApiKind } from '../endpoints.js';
import { ApiError } from '../errors.js';
import { FieldNames } from '../json/field-names.js';
import { isOfNumber, OPEN_ARRAY, OPEN_OBJECT } from '../json/json-bytes.js';
import type { PromptBytes } from '../prompt-bytes.js';
import type { BodyField, ScannedBody } from './scanned-body.js';
import { ScannedValues } from './scanned-values.js';
import { TextCopier } from './text-copier.js';

/** Bytes of a body that are read between two pauses: at most a few milliseconds, whatever they are. */
export const SLICE_BYTES = 16 * 1024;

/** Texts that are copied at once. */
const SHORT_BYTES = 4 * 1024;

const MESSAGE = new FieldNames(['role', 'type', 'content', 'tool_calls']);
const [ROLE, TYPE, CONTENT, CALLS] = [0, 1, 2, 3];
/** Roles whose text begins at a whole token. */
const ROLES = new FieldNames(['assistant']);
const PART = new FieldNames(['text', 'type']);

/** A pause: what was written so far may be taken from the buffer. */
type Pauses = Generator<void, void>;

/**
 * Writes the same prompt as `writePrompt`, from the bytes of a body, and pauses in between so that a long one can be
 * read in slices. A part that is longer than `MOST_PARSED` and not text is taken as it was sent, not in a normal form.
 * Throws an ApiError for a malformed prompt.
 */
export class ScannedPrompt {
  readonly #body: ScannedBody;
  readonly #bytes: Buffer;
  readonly #values: ScannedValues;
  readonly #texts: TextCopier;
  readonly #out: PromptBytes;
  readonly #message = new Int32Array(4);
  readonly #part = new Int32Array(2);
  /** Where it paused last. */
  #mark = 0;

  constructor(body: ScannedBody, out: PromptBytes) {
    this.#body = body;
    this.#bytes = body.bytes;
    this.#values = new ScannedValues(body);
    this.#texts = new TextCopier(body);
    this.#out = out;
  }

  *write(kind: ApiKind): Pauses {
    const body = this.#body;
    switch (kind) {
      case 'chat':
        yield* this.#chat();
        return;
      case 'messages':
        yield* this.#tools();
        if (body.has('system')) yield* this.#plainMessage('system', body.begin('system'));
        yield* this.#messages('messages');
        return;
      case 'responses': {
        const instructions = body.begin('instructions');
        yield* this.#tools();
        if (!this.#values.isMissing(instructions)) yield* this.#plainMessage('system', instructions);
        if (this.#values.isText(body.begin('input'))) yield* this.#plainMessage('user', body.begin('input'));
        else yield* this.#messages('input');
        return;
      }
      case 'completion':
        yield* this.#prompts('prompt');
        return;
      case 'embedding':
        yield* this.#prompts('input');
        return;
      case 'pooling':
      case 'classify':
      case 'moderation':
        yield* this.#input();
        return;
      case 'speech':
        yield* this.#textOf(body.begin('input'));
        return;
      case 'image':
        yield* this.#textOf(body.begin('prompt'));
        return;
      case 'count-tokens':
      case 'tokenize':
      case 'detokenize':
      case 'transcription':
      case 'translation':
        // The model reads nothing, or no text.
        return;
      case 'rerank':
        yield* this.#textOf(body.begin('query'));
        yield* this.#textsOf('documents');
        return;
      case 'score':
        yield* this.#textsOf('text_1');
        yield* this.#textsOf('text_2');
    }
  }

  *#chat(): Pauses {
    yield* this.#tools();
    yield* this.#messages('messages');
    this.#out.add('<|im_start|>assistant');
    this.#out.fillToken();
  }

  /** An input that may be a chat as well, and whose texts may be parts of a message. */
  *#input(): Pauses {
    const input = this.#body.begin('input');
    const first = input >= 0 && this.#bytes[input] === OPEN_ARRAY ? this.#values.first(input) : -1;
    if (this.#body.has('messages')) yield* this.#chat();
    else if (first >= 0 && this.#bytes[first] === OPEN_OBJECT) yield* this.#content(input);
    else yield* this.#prompts('input');
  }

  *#tools(): Pauses {
    const tools = this.#body.begin('tools');
    if (this.#values.isMissing(tools)) return;
    if (this.#bytes[tools] !== OPEN_ARRAY) throw malformed();
    if (this.#values.first(tools) < 0) return;
    this.#out.add('<|im_start|>tools\n');
    yield* this.#json(tools);
    this.#out.add('<|im_end|>\n');
  }

  *#messages(field: BodyField): Pauses {
    const values = this.#values;
    const message = this.#message;
    const list = this.#body.begin(field);
    if (list < 0 || this.#bytes[list] !== OPEN_ARRAY || values.first(list) < 0) throw malformed();
    for (let at = values.first(list); at >= 0; at = values.next(values.end(at))) {
      if (this.#bytes[at] !== OPEN_OBJECT) throw malformed();
      message.fill(-1);
      for (let name = values.first(at); name >= 0; name = values.member(name, MESSAGE, message)) {
        if (this.#isDue(name)) yield;
      }
      const role = values.isMissing(message[ROLE]!) ? message[TYPE]! : message[ROLE]!;
      if (!values.isText(role)) throw malformed();
      this.#out.add('<|im_start|>');
      yield* this.#text(role);
      if (ROLES.find(this.#bytes, role + 1, values.end(role) - 1) >= 0) this.#out.fillToken();
      else this.#out.add('\n');
      const calls = message[CALLS]!;
      yield* this.#content(message[CONTENT]!);
      if (!values.isMissing(calls)) yield* this.#json(calls);
      this.#out.add('<|im_end|>\n');
    }
  }

  *#plainMessage(role: string, content: number): Pauses {
    this.#out.add(`<|im_start|>${role}\n`);
    yield* this.#content(content);
    this.#out.add('<|im_end|>\n');
  }

  *#content(content: number): Pauses {
    const values = this.#values;
    if (values.isText(content)) yield* this.#text(content);
    else if (values.isMissing(content)) return;
    else if (this.#bytes[content] !== OPEN_ARRAY) throw malformed();
    else {
      for (let at = values.first(content); at >= 0; at = values.next(values.end(at))) {
        if (this.#isDue(at)) yield;
        if (!values.isText(at)) yield* this.#objectPart(at);
        else if (!this.#copyShort(at)) yield* this.#text(at);
      }
    }
  }

  *#objectPart(at: number): Pauses {
    yield* this.#readPart(at);
    const [text, type] = this.#part as unknown as [number, number];
    if (this.#values.isText(text)) yield* this.#text(text);
    else yield* this.#markOf(at, type);
  }

  /** Finds `text` and `type` of an object. */
  *#readPart(at: number): Pauses {
    const values = this.#values;
    if (this.#bytes[at] !== OPEN_OBJECT) throw malformed();
    this.#part.fill(-1);
    for (let name = values.first(at); name >= 0; name = values.member(name, PART, this.#part)) {
      if (this.#isDue(name)) yield;
    }
  }

  /** An image or another part that is not text: a mark that is the same for the same content. */
  *#markOf(part: number, type: number): Pauses {
    const hash = createHash('sha256');
    const end = this.#values.end(part);
    const value = this.#body.parse(part, end);
    const name = this.#values.isText(type) ? this.#body.parse(type, this.#values.end(type)) : undefined;
    if (value !== undefined) hash.update(JSON.stringify(value));
    else {
      for (let at = part; at < end; at += SLICE_BYTES) {
        hash.update(this.#bytes.subarray(at, Math.min(end, at + SLICE_BYTES)));
        yield;
      }
    }
    this.#out.add(`<|${name ?? 'part'}:${hash.digest('hex').slice(0, 16)}|>`);
  }

  *#json(value: number): Pauses {
    const end = this.#values.end(value);
    const parsed = this.#body.parse(value, end);
    if (parsed !== undefined) this.#out.add(JSON.stringify(parsed));
    else {
      for (let at = value; at < end; at += SLICE_BYTES) {
        this.#out.addBytes(this.#bytes, at, Math.min(end, at + SLICE_BYTES));
        yield;
      }
    }
  }

  *#prompts(field: BodyField): Pauses {
    const values = this.#values;
    const value = this.#body.begin(field);
    if (values.isText(value)) {
      yield* this.#text(value);
      return;
    }
    const first = value >= 0 && this.#bytes[value] === OPEN_ARRAY ? values.first(value) : -1;
    if (first < 0) throw malformed();
    if (isOfNumber(this.#bytes[first]!)) yield* this.#tokens(value);
    else {
      for (let at = first; at >= 0; at = values.next(values.end(at))) {
        if (this.#isDue(at)) yield;
        if (!values.isText(at)) yield* this.#tokens(at);
        else if (!this.#copyShort(at)) yield* this.#text(at);
      }
    }
  }

  *#tokens(list: number): Pauses {
    const values = this.#values;
    if (this.#bytes[list] !== OPEN_ARRAY) throw malformed();
    for (let at = values.first(list); at >= 0; ) {
      at = values.plainTokens(at, at + SLICE_BYTES, this.#out);
      const end = values.end(at);
      const id = values.tokenAt(at, end);
      if (id < 0) throw malformed();
      this.#out.addToken(id);
      if (this.#isDue(at)) yield;
      at = values.next(end);
    }
  }

  *#textsOf(field: BodyField): Pauses {
    const values = this.#values;
    const value = this.#body.begin(field);
    if (value < 0 || this.#bytes[value] !== OPEN_ARRAY) yield* this.#textOf(value);
    else {
      for (let at = values.first(value); at >= 0; at = values.next(values.end(at))) {
        if (this.#isDue(at)) yield;
        if (!values.isText(at) || !this.#copyShort(at)) yield* this.#textOf(at);
      }
    }
  }

  *#textOf(value: number): Pauses {
    if (this.#values.isText(value)) yield* this.#text(value);
    else {
      yield* this.#readPart(value);
      if (!this.#values.isText(this.#part[0]!)) throw malformed();
      yield* this.#text(this.#part[0]!);
    }
  }

  /** The text of a string. */
  *#text(value: number): Pauses {
    const end = this.#values.end(value) - 1;
    for (let at = value + 1; at < end; ) {
      at = this.#texts.copy(at, Math.min(end, at + SLICE_BYTES), end, this.#out);
      if (this.#isDue(at)) yield;
    }
  }

  /** Copies a short text and returns true: a pause would need an object for each of them. False for a long one. */
  #copyShort(value: number): boolean {
    const end = this.#values.end(value) - 1;
    if (end - value > SHORT_BYTES) return false;
    for (let at = value + 1; at < end; ) at = this.#texts.copy(at, end, end, this.#out);
    return true;
  }

  #isDue(at: number): boolean {
    if (Math.abs(at - this.#mark) < SLICE_BYTES) return false;
    this.#mark = at;
    return true;
  }
}

/** The engine refuses it with a message of its own. */
function malformed(): ApiError {
  return new ApiError('malformed', 'The prompt is malformed.');
}
