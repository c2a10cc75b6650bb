import { ChunkPattern } from '../../../protocol/chunk-pattern.js';
import { ResponseScanner } from '../../../protocol/response-scanner.js';
import { SseScanner, type SseSink } from '../../../protocol/sse/sse-scanner.js';
import { isDoneEvent } from '../../../protocol/sse/sse-writer.js';
import type { TokenCounts } from '../../../protocol/usage.js';
import type { ResponseProblem } from './response-problem.js';

/** A longer response without streaming is not kept. */
const MAX_BYTES = 64 * 1024 * 1024;

interface Choice {
  text?: unknown;
  message?: { content?: unknown } | null;
  delta?: Record<string, unknown> | null;
  finish_reason?: unknown;
}

/** Reads one response as it arrives, streamed or whole, and records when its chunks arrived. */
export class ResponseReader implements SseSink {
  /** Chunks with a token, and when the first of them and the latest part of the response arrived. */
  chunks = 0;
  firstUs = Number.NaN;
  lastUs = Number.NaN;
  readonly counts: TokenCounts = { inputTokens: -1, cachedTokens: -1, outputTokens: -1, reasoningTokens: -1 };
  finishReason = '';
  /** The text, on request. */
  text = '';
  problem: ResponseProblem | null = null;
  /** The final event of a stream has arrived: the response is complete. */
  isDone = false;
  readonly #isStream: boolean;
  readonly #keepsText: boolean;
  readonly #piece: ((us: number) => void) | null;
  readonly #scanner: SseScanner | null;
  readonly #events = new ResponseScanner();
  readonly #pattern = new ChunkPattern();
  readonly #body: Buffer[] = [];
  #bytes = 0;
  #nowUs = 0;

  /** @param piece called with the time of each piece with a token */
  constructor(isStream: boolean, keepsText: boolean, piece: ((us: number) => void) | null = null) {
    this.#isStream = isStream;
    this.#keepsText = keepsText;
    this.#piece = piece;
    this.#scanner = isStream ? new SseScanner(this) : null;
  }

  push(bytes: Buffer, nowUs: number): void {
    this.#nowUs = nowUs;
    this.lastUs = nowUs;
    if (this.#scanner !== null) {
      this.#scanner.push(bytes);
      return;
    }
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_BYTES) this.#fail('malformed', 'the response is too large');
    else this.#body.push(bytes);
  }

  /** The server has ended its response. */
  end(): void {
    if (this.problem !== null) return;
    if (this.#isStream) this.#endStream();
    else this.#readWhole();
  }

  event(bytes: Uint8Array, from: number, to: number): void {
    if (this.isDone || this.problem !== null) return;
    if (isDoneEvent(bytes, from, to)) {
      this.isDone = true;
      return;
    }
    // Most chunks differ from the one before in their text alone.
    if (!this.#keepsText && this.#pattern.fits(bytes, from, to)) this.#count();
    else this.#readEvent(bytes, from, to);
  }

  #readEvent(bytes: Uint8Array, from: number, to: number): void {
    const said = this.#parse(Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8'));
    if (said === null) return;
    const events = this.#events;
    events.reset();
    events.push(bytes, from, to);
    const hasUsage = events.readUsage(this.counts);
    const choice = (said.choices as Choice[] | undefined)?.[0];
    if (choice === undefined) {
      if (said.choices === undefined && !hasUsage) this.#fail('malformed', 'an event has neither choices nor usage');
      return;
    }
    const isFinish = typeof choice.finish_reason === 'string';
    if (isFinish) this.finishReason = choice.finish_reason as string;
    if (this.#keepsText) this.text += spoken(choice);
    // A token may have no text, such as half of a character; an event with only a role has no token.
    const isBare = choice.delta?.role === undefined && !isFinish;
    if (events.outputs > 0 || isBare) this.#count();
    if (!isFinish && !hasUsage && events.outputValues === 1 && events.textTo > 0) {
      this.#pattern.learn(bytes, from, to, events.textFrom, events.textTo);
    }
  }

  #count(): void {
    if (this.chunks++ === 0) this.firstUs = this.#nowUs;
    this.#piece?.(this.#nowUs);
  }

  #endStream(): void {
    const { length, oversized, unfinished } = this.#scanner!;
    if (oversized > 0) this.#fail('malformed', 'an event is too large');
    else if (this.isDone || (this.finishReason !== '' && !unfinished)) return;
    else if (length > 0 && this.chunks === 0 && unfinished)
      this.#fail('malformed', 'the response is not an event stream');
    else this.#fail('cut', `the stream ended after ${this.chunks} chunks, before it was complete`);
  }

  #readWhole(): void {
    const bytes = Buffer.concat(this.#body);
    const said = this.#parse(bytes.toString('utf8'));
    if (said === null) return;
    this.#events.push(bytes, 0, bytes.length);
    this.#events.readUsage(this.counts);
    const choice = (said.choices as Choice[] | undefined)?.[0];
    if (choice === undefined) {
      this.#fail('malformed', 'the response has no choices');
      return;
    }
    if (typeof choice.finish_reason === 'string') this.finishReason = choice.finish_reason;
    if (this.#keepsText) this.text = spoken(choice);
    this.chunks = 1;
    this.firstUs = this.lastUs;
  }

  #parse(text: string): { choices?: unknown } | null {
    let said: { choices?: unknown; error?: unknown } | null;
    try {
      said = JSON.parse(text);
    } catch {
      said = null;
    }
    const isShaped = said !== null && typeof said === 'object' && [undefined, true].includes(isList(said.choices));
    if (!isShaped) {
      const shown = text.length > 60 ? `${text.slice(0, 57)}...` : text;
      this.#fail('malformed', `${this.#isStream ? 'an event' : 'the response'} is malformed: ${shown}`);
      return null;
    }
    if (said!.error != null) {
      const { message } = said!.error as { message?: unknown };
      this.#fail('server_error', `the server reports an error: ${message ?? JSON.stringify(said!.error)}`);
      return null;
    }
    return said;
  }

  #fail(kind: ResponseProblem['class'], message: string): void {
    this.problem ??= { class: kind, message };
  }
}

function isList(value: unknown): boolean | undefined {
  return value === undefined ? undefined : Array.isArray(value);
}

/** The text of a choice, in any of its fields. */
function spoken({ delta, message, text }: Choice): string {
  const said = text ?? delta?.content ?? message?.content;
  return typeof said === 'string' ? said : '';
}
