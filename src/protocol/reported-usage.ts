import { Count, FIRST_OTHER, Field } from './response-fields.js';
import type { TokenCounts } from './usage.js';

/**
 * The objects that may carry `usage`: the response itself, its `response`, its `message`; the first that has one
 * counts.
 */
const OWN = 0;
const OF_RESPONSE = 1;
const OF_MESSAGE = 2;
const HOLDERS = 3;

/** More than any request takes; sums of such counts stay exact. */
const MOST_TOKENS = 2 ** 31;

/** The usage reported by a response, field by field. */
export class ReportedUsage {
  #holder = OWN;
  /** By holder and field; -1 for missing fields. */
  readonly #counts = new Float64Array(HOLDERS * FIRST_OTHER);
  readonly #hasUsage = new Uint8Array(HOLDERS);
  #timingsCached = -1;

  reset(): void {
    this.#holder = OWN;
    this.#hasUsage[OWN] = 0;
    this.#hasUsage[OF_RESPONSE] = 0;
    this.#hasUsage[OF_MESSAGE] = 0;
    this.#timingsCached = -1;
  }

  /** Whether the response itself has reported it, not a nested one. */
  get isOwn(): boolean {
    return this.#hasUsage[OWN] === 1;
  }

  /** What follows is part of the response's `response` or `message`. */
  enter(field: number): void {
    this.#holder = field === Field.response ? OF_RESPONSE : OF_MESSAGE;
  }

  leave(): void {
    this.#holder = OWN;
  }

  /** A `usage` opens. */
  begin(): void {
    for (let i = 0; i < FIRST_OTHER; i++) this.#counts[this.#holder * FIRST_OTHER + i] = -1;
  }

  end(): void {
    this.#hasUsage[this.#holder] = 1;
  }

  count(field: number, value: number): void {
    const whole = field === Count.seconds ? Math.ceil(value) : value;
    const counted = Number.isInteger(whole) && whole >= 0 && whole < MOST_TOKENS ? whole : -1;
    if (field === Count.timingsCached) this.#timingsCached = counted;
    else this.#counts[this.#holder * FIRST_OTHER + field] = counted;
  }

  /** Resets the fields under a name. */
  forget(field: number): void {
    if (field < FIRST_OTHER) this.count(field, -1);
    else if (field === Field.usage) this.#hasUsage[this.#holder] = 0;
    else if (field === Field.response) this.#hasUsage[OF_RESPONSE] = 0;
    else if (field === Field.message) this.#hasUsage[OF_MESSAGE] = 0;
    else if (field === Field.timings) this.#timingsCached = -1;
    else if (field === Field.promptDetails) this.count(Count.promptCached, -1);
    else if (field === Field.inputDetails) this.count(Count.inputCached, -1);
    else if (field === Field.completionDetails) this.count(Count.completionReasoning, -1);
    else if (field === Field.outputDetails) this.count(Count.outputReasoning, -1);
  }

  /** The reported seconds of audio; -1 when there are none. */
  get seconds(): number {
    return this.#hasUsage[OWN] === 1 ? this.#counts[OWN * FIRST_OTHER + Count.seconds]! : -1;
  }

  /**
   * Fills in the tokens, under the names of chat and plain completions or those of `/v1/responses` and `/v1/messages`.
   * In the latter `input_tokens` leaves out what was found in a cache or written to one. A total alone, as rerankers
   * report it, counts as input. Returns false when there is no usage.
   */
  read(into: TokenCounts): boolean {
    let holder = 0;
    while (holder < HOLDERS && this.#hasUsage[holder] === 0) holder++;
    if (holder === HOLDERS) return false;
    const counts = this.#counts;
    const base = holder * FIRST_OTHER;
    const cacheRead = counts[base + Count.cacheRead]!;
    const uncached = counts[base + Count.input]!;
    const besides = Math.max(0, cacheRead) + Math.max(0, counts[base + Count.cacheCreation]!);
    const input = either(counts[base + Count.prompt]!, uncached < 0 ? -1 : uncached + besides);
    into.outputTokens = either(counts[base + Count.completion]!, counts[base + Count.output]!);
    into.inputTokens = input < 0 && into.outputTokens < 0 ? counts[base + Count.total]! : input;
    const cached = either(counts[base + Count.promptCached]!, counts[base + Count.inputCached]!);
    into.cachedTokens = either(cached, either(cacheRead, this.#timingsCached));
    into.reasoningTokens = either(counts[base + Count.completionReasoning]!, counts[base + Count.outputReasoning]!);
    return into.inputTokens >= 0 || into.outputTokens >= 0;
  }
}

function either(one: number, other: number): number {
  return one >= 0 ? one : other;
}
