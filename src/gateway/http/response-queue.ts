import type { HttpResponse } from './http-response.js';

/** The most that is held of a response before its turn. */
const MOST_HELD = 65_536;

interface Held {
  pieces: Buffer[];
  bytes: number;
}

/**
 * The responses due on a connection, in the order of their requests. Only the first is sent; bytes of the others are
 * held.
 */
export class ResponseQueue {
  #responses: HttpResponse[] = [];
  /** Null until the client pipelines requests. */
  #held: Map<HttpResponse, Held> | null = null;

  get length(): number {
    return this.#responses.length;
  }

  get first(): HttpResponse | undefined {
    return this.#responses[0];
  }

  get last(): HttpResponse | undefined {
    return this.#responses.at(-1);
  }

  push(response: HttpResponse): void {
    this.#responses.push(response);
  }

  /** Removes the first. Returns the held bytes of the next, whose turn it is. */
  next(): Buffer[] {
    this.#responses.shift();
    if (this.#held === null || this.#responses.length === 0) return [];
    const first = this.#responses[0]!;
    const pieces = this.#held.get(first)?.pieces ?? [];
    this.#held.delete(first);
    return pieces;
  }

  includes(response: HttpResponse): boolean {
    return this.#responses.includes(response);
  }

  /** Holds bytes of a response whose turn has not come. Returns whether it may write more. */
  hold(response: HttpResponse, piece: Buffer): boolean {
    this.#held ??= new Map();
    let held = this.#held.get(response);
    if (held === undefined) {
      held = { pieces: [], bytes: 0 };
      this.#held.set(response, held);
    }
    held.pieces.push(piece);
    held.bytes += piece.length;
    return held.bytes <= MOST_HELD;
  }

  isFull(response: HttpResponse): boolean {
    return (this.#held?.get(response)?.bytes ?? 0) > MOST_HELD;
  }

  /** Removes all. */
  clear(): HttpResponse[] {
    const responses = this.#responses;
    this.#responses = [];
    this.#held = null;
    return responses;
  }
}
