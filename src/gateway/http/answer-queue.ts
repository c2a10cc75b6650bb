import type { HttpResponse } from './http-response.js';

/** More of an answer is not made ahead of its turn. */
const MOST_HELD = 65_536;

interface Held {
  pieces: Buffer[];
  bytes: number;
}

/** The answers due on a connection, in the order of their requests. Only the first goes out; what others have is held for them. */
export class AnswerQueue {
  #answers: HttpResponse[] = [];
  /** Null as long as nobody sends requests ahead. */
  #held: Map<HttpResponse, Held> | null = null;

  get length(): number {
    return this.#answers.length;
  }

  get first(): HttpResponse | undefined {
    return this.#answers[0];
  }

  push(answer: HttpResponse): void {
    this.#answers.push(answer);
  }

  /** Takes the first off. Returns what is held of the next, for which it is time. */
  next(): Buffer[] {
    this.#answers.shift();
    if (this.#held === null || this.#answers.length === 0) return [];
    const first = this.#answers[0]!;
    const pieces = this.#held.get(first)?.pieces ?? [];
    this.#held.delete(first);
    return pieces;
  }

  includes(answer: HttpResponse): boolean {
    return this.#answers.includes(answer);
  }

  /** Keeps something for an answer whose turn has not come. Returns whether there may be more of it. */
  hold(answer: HttpResponse, piece: Buffer): boolean {
    this.#held ??= new Map();
    let held = this.#held.get(answer);
    if (held === undefined) {
      held = { pieces: [], bytes: 0 };
      this.#held.set(answer, held);
    }
    held.pieces.push(piece);
    held.bytes += piece.length;
    return held.bytes <= MOST_HELD;
  }

  isFull(answer: HttpResponse): boolean {
    return (this.#held?.get(answer)?.bytes ?? 0) > MOST_HELD;
  }

  /** Takes all off. */
  clear(): HttpResponse[] {
    const answers = this.#answers;
    this.#answers = [];
    this.#held = null;
    return answers;
  }
}
