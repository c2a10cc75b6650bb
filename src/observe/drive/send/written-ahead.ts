import type { PromptBuilder } from '../prompts/prompt-builder.js';
import type { DueRequests } from './due-requests.js';
import type { RequestWriter } from './request-writer.js';

/** How many requests are written before it is their time. */
const AHEAD = 16;

/** Writes requests while there is nothing else to do, so that they only have to be sent when it is their time. */
export class WrittenAhead {
  readonly #due: DueRequests;
  readonly #prompts: PromptBuilder;
  readonly #writer: RequestWriter;
  readonly #bodies = new Map<number, Buffer>();
  #turn: NodeJS.Immediate | undefined;

  constructor(due: DueRequests, prompts: PromptBuilder, writer: RequestWriter) {
    this.#due = due;
    this.#prompts = prompts;
    this.#writer = writer;
  }

  /** The body of a request; it is released. */
  take(row: number): Buffer {
    const body = this.#bodies.get(row) ?? this.#writer.body(row);
    this.#bodies.delete(row);
    return body;
  }

  /** Writes the next ones now. */
  now(): void {
    while (this.#writeOne()) {}
  }

  /** Writes the next ones, one in every turn of the event loop: none keeps a request waiting whose time has come. */
  later(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      if (this.#writeOne()) this.later();
    });
  }

  stop(): void {
    clearImmediate(this.#turn);
  }

  /** False when enough are written. A turn that needs a response waits for it. */
  #writeOne(): boolean {
    for (const row of this.#due.ahead(AHEAD)) {
      if (this.#bodies.has(row) || this.#prompts.continues(row)) continue;
      this.#bodies.set(row, this.#writer.body(row));
      return true;
    }
    return false;
  }
}
