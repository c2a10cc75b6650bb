import { ChunkPattern } from '../../protocol/chunk-pattern.js';
import { EventType } from '../../protocol/response-fields.js';
import { ResponseScanner } from '../../protocol/response-scanner.js';
import { SseScanner, type SseSink } from '../../protocol/sse/sse-scanner.js';
import { isDoneEvent } from '../../protocol/sse/sse-writer.js';
import type { TokenCounts } from '../../protocol/usage.js';
import { EventStripper } from './event-stripper.js';
import type { ResponseForm } from './response-form.js';

/** How a response ended: complete, with an error that the engine reported, or broken off. */
export type ResponseEnding = 'complete' | 'failed' | 'cut';

/**
 * Counts the tokens of one response after the other: `begin`, `piece` for each piece, `finish`. It holds no text and
 * allocates nothing per piece, unless an event has to be joined.
 */
export class ResponseMeter implements SseSink, TokenCounts {
  /** The result, after `finish`. Cached and reasoning tokens that an engine does not report are 0. */
  inputTokens = 0;
  cachedTokens = 0;
  outputTokens = 0;
  reasoningTokens = 0;
  /** Seconds of audio that the engine reported; -1 when it did not. */
  audioSeconds = -1;
  /** Whether the engine reported these numbers. */
  isMetered = false;
  ending: ResponseEnding = 'cut';

  /**
   * The final usage of the response, or its end, is in the pieces so far: passing on the last of them acknowledges it.
   */
  isSettled = false;
  /** Events with output so far: about one per token. */
  outputEvents = 0;
  #form: ResponseForm = 'opaque';
  #strips = false;
  #hasFailed = false;
  /** What the engine has reported so far; -1 for missing numbers. */
  readonly #said: TokenCounts = { inputTokens: -1, cachedTokens: -1, outputTokens: -1, reasoningTokens: -1 };
  readonly #now: TokenCounts = { inputTokens: -1, cachedTokens: -1, outputTokens: -1, reasoningTokens: -1 };
  readonly #scanner = new ResponseScanner();
  readonly #pattern = new ChunkPattern();
  readonly #stripper = new EventStripper();
  readonly #events: SseScanner;

  constructor() {
    this.#events = new SseScanner(this);
  }

  /** @param strips whether the gateway, not the client, requested the usage chunk; then the client does not get it */
  begin(form: ResponseForm, strips: boolean): void {
    this.#form = form;
    this.#strips = strips;
    this.isSettled = false;
    this.outputEvents = 0;
    this.audioSeconds = -1;
    this.#hasFailed = false;
    const said = this.#said;
    said.inputTokens = -1;
    said.cachedTokens = -1;
    said.outputTokens = -1;
    said.reasoningTokens = -1;
    this.#scanner.reset();
    this.#pattern.reset();
    this.#events.reset();
    this.#stripper.reset();
  }

  /** Meters the next piece; returns the bytes for the client, including any held back before: maybe none. */
  piece(piece: Buffer): Buffer {
    if (this.#form === 'events') {
      if (this.#strips) return this.#stripped(piece);
      this.#events.push(piece);
    } else if (this.#form === 'json') {
      this.#scanner.push(piece, 0, piece.length);
      if (this.#scanner.isOver) this.isSettled = true;
    }
    return piece;
  }

  /** Whether the client has received part of an event, so that another must not begin there. */
  get isInsideEvent(): boolean {
    return this.#events.length - this.#stripper.heldLength > this.#events.boundary;
  }

  /** The bytes held back at the end of a complete response; not for one that broke off. */
  rest(): Buffer {
    return this.#stripper.rest();
  }

  /**
   * Computes the result. Numbers that the engine did not report are estimated: the output of a stream by its events,
   * that of another response by the number given, if the response is complete.
   */
  finish(isWhole: boolean, inputEstimate: number, outputEstimate: number): void {
    const said = this.#said;
    const isStream = this.#form === 'events';
    if (this.#form === 'json') {
      this.#takeUsage();
      this.#hasFailed = this.#scanner.hasError;
    }
    const hasSaid = said.inputTokens >= 0 || said.outputTokens >= 0;
    this.isMetered = hasSaid && (!isStream || this.isSettled || isWhole);
    const seen = isStream ? this.outputEvents : isWhole && !hasSaid ? outputEstimate : 0;
    this.inputTokens = said.inputTokens >= 0 ? said.inputTokens : inputEstimate;
    this.outputTokens = this.isMetered ? Math.max(0, said.outputTokens) : Math.max(seen, said.outputTokens);
    this.cachedTokens = Math.min(this.inputTokens, Math.max(0, said.cachedTokens));
    this.reasoningTokens = Math.max(0, said.reasoningTokens);
    const isComplete = this.#form === 'opaque' ? isWhole : this.isSettled;
    this.ending = this.#hasFailed ? 'failed' : isComplete ? 'complete' : 'cut';
  }

  /** Called by the scanner of events. */
  event(bytes: Uint8Array, from: number, to: number, end: number, start: number): void {
    if (this.#pattern.fits(bytes, from, to)) {
      this.outputEvents++;
      return;
    }
    if (isDoneEvent(bytes, from, to)) {
      this.isSettled = true;
      return;
    }
    const scanner = this.#scanner;
    scanner.reset();
    scanner.push(bytes, from, to);
    this.outputEvents += scanner.outputs;
    const hasUsage = this.#takeUsage();
    if (scanner.type !== EventType.other || scanner.hasError) this.#takeType(scanner);
    else if (scanner.hasOwnUsage && scanner.isWithoutChoice) {
      this.isSettled = true;
      if (this.#strips) this.#stripper.cut(start, end);
    } else if (!hasUsage && scanner.outputs === 1 && scanner.isOver) this.#learn(bytes, from, to, scanner);
  }

  #learn(bytes: Uint8Array, from: number, to: number, { outputValues, textFrom, textTo }: ResponseScanner): void {
    if (outputValues === 1 && textTo > 0) this.#pattern.learn(bytes, from, to, textFrom, textTo);
  }

  /** An event with a type. */
  #takeType({ hasError, type }: ResponseScanner): void {
    if (type === EventType.output) this.outputEvents++;
    if (type === EventType.end || type === EventType.failure || hasError) this.isSettled = true;
    if (type === EventType.failure || hasError) this.#hasFailed = true;
  }

  /** Merges reported usage. Events of one response may each report a part of it. */
  #takeUsage(): boolean {
    const now = this.#now;
    if (this.#scanner.audioSeconds >= 0) this.audioSeconds = this.#scanner.audioSeconds;
    if (!this.#scanner.readUsage(now)) return false;
    const said = this.#said;
    if (now.inputTokens >= 0) said.inputTokens = now.inputTokens;
    if (now.cachedTokens >= 0) said.cachedTokens = now.cachedTokens;
    if (now.outputTokens >= 0) said.outputTokens = now.outputTokens;
    if (now.reasoningTokens >= 0) said.reasoningTokens = now.reasoningTokens;
    return true;
  }

  #stripped(piece: Buffer): Buffer {
    this.#stripper.begin(piece, this.#events);
    this.#events.push(piece);
    return this.#stripper.end(this.#events);
  }
}

/** Meters for reuse: never more than requests were under way at one time. */
export class MeterPool {
  readonly #free: ResponseMeter[] = [];

  take(): ResponseMeter {
    return this.#free.pop() ?? new ResponseMeter();
  }

  /** Returns a meter to the pool; the caller must not use it any more. */
  give(meter: ResponseMeter): void {
    meter.begin('opaque', false);
    this.#free.push(meter);
  }
}
