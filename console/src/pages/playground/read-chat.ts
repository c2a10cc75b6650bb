import { dataOf, EventText } from './event-text';

export interface Progress {
  readonly content: string;
  /** What a model says before its response, where its engine keeps the two apart. */
  readonly reasoning: string;
  /** Absent until the first token has come. */
  readonly ttftMs?: number;
  /** Tokens of the response, as the engine reports them at its end. */
  readonly tokens?: number;
  /** Tokens per second after the first one; absent where all of them came at once. */
  readonly rate?: number;
}

interface Chunk {
  readonly error?: { readonly message?: string };
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      readonly reasoning?: string | null;
    };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: { readonly completion_tokens?: number } | null;
}

/**
 * Reads a response as it is streamed and reports it as it grows. Rejects with the reason where it ends before it is complete: what was
 * reported until then is what was said.
 * @param startMs when it was asked for, by `nowMs`
 */
export async function readChat(
  body: ReadableStream<Uint8Array>,
  startMs: number,
  report: (progress: Progress) => void,
  nowMs: () => number = () => performance.now(),
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const text = new EventText();
  const said = new Said(startMs, nowMs, report);
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: Error) => {
        if (error.name === 'AbortError') throw error;
        throw new Error('the connection was lost before the response ended: send it again');
      });
      for (const event of done ? text.end() : text.add(decoder.decode(value, { stream: true }))) said.hear(event);
      if (done) break;
    }
  } finally {
    // After an error nothing more is wanted.
    await reader.cancel().catch(() => {});
  }
  if (!said.isComplete) throw new Error('the response ended before it was complete: send it again');
}

/** What was said so far, and when. */
class Said {
  isComplete = false;
  #content = '';
  #reasoning = '';
  #firstMs: number | null = null;
  #lastMs = 0;
  #tokens: number | undefined;
  readonly #startMs: number;
  readonly #nowMs: () => number;
  readonly #report: (progress: Progress) => void;

  constructor(startMs: number, nowMs: () => number, report: (progress: Progress) => void) {
    this.#startMs = startMs;
    this.#nowMs = nowMs;
    this.#report = report;
  }

  /** Throws what an event says is wrong. */
  hear(event: string): void {
    const data = dataOf(event);
    if (data === undefined) return;
    if (data === '[DONE]') {
      this.isComplete = true;
      return;
    }
    const { choices, error, usage } = chunkIn(data);
    if (error !== undefined) throw new Error(error.message ?? 'the gateway gave no reason');
    const [choice] = choices ?? [];
    const content = choice?.delta?.content ?? '';
    const reasoning = choice?.delta?.reasoning_content ?? choice?.delta?.reasoning ?? '';
    const tokens = usage?.completion_tokens;
    if (typeof choice?.finish_reason === 'string') this.isComplete = true;
    if (content === '' && reasoning === '' && tokens === undefined) return;
    if (content !== '' || reasoning !== '') {
      this.#lastMs = this.#nowMs();
      this.#firstMs ??= this.#lastMs;
    }
    this.#content += content;
    this.#reasoning += reasoning;
    this.#tokens = tokens ?? this.#tokens;
    this.#report({ content: this.#content, reasoning: this.#reasoning, ...this.#times() });
  }

  /** Pieces of text are not tokens: only the count of the engine makes a rate. */
  #times(): Pick<Progress, 'ttftMs' | 'tokens' | 'rate'> {
    const tokens = this.#tokens;
    const counted = tokens === undefined ? {} : { tokens };
    if (this.#firstMs === null) return counted;
    const ttftMs = this.#firstMs - this.#startMs;
    const decodeMs = this.#lastMs - this.#firstMs;
    const isRate = tokens !== undefined && tokens > 1 && decodeMs > 0;
    return { ttftMs, ...counted, ...(isRate ? { rate: (1000 * (tokens - 1)) / decodeMs } : {}) };
  }
}

function chunkIn(data: string): Chunk {
  try {
    return JSON.parse(data) as Chunk;
  } catch {
    throw new Error('a part of the response is not JSON');
  }
}
