import type { Socket } from 'node:net';

/**
 * Bytes of bodies that a connection takes before it waits a turn of the event loop: one full read. Code that V8 has not
 * optimised for such bytes yet takes up to 0.2 us for each.
 */
export const MOST_IN_TURN = 64 * 1024;

/**
 * A socket with much to read is read again and again in one turn of the event loop: a body that is scanned as it
 * arrives would take all of it. After some bytes of bodies a connection waits a turn, in which everything else is served.
 */
export class BodyTurns {
  #bytes = 0;
  #isWaiting = false;
  readonly #socket: Pick<Socket, 'destroyed' | 'pause' | 'resume'>;
  readonly #mayResume: () => boolean;

  /** @param mayResume whether the connection has not paused the socket for another reason */
  constructor(socket: Pick<Socket, 'destroyed' | 'pause' | 'resume'>, mayResume: () => boolean) {
    this.#socket = socket;
    this.#mayResume = mayResume;
  }

  took(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < MOST_IN_TURN || this.#isWaiting) return;
    this.#isWaiting = true;
    this.#socket.pause();
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#bytes = 0;
    this.#isWaiting = false;
    if (this.#mayResume() && !this.#socket.destroyed) this.#socket.resume();
  };
}
