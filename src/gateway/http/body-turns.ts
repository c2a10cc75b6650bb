import type { Socket } from 'node:net';

/** Bytes of bodies that a connection takes before it waits a turn of the event loop, however fast they are read. */
export const MOST_IN_TURN = 256 * 1024;
/**
 * Milliseconds that it spends on them at most, give or take one read. Code that V8 has not optimised for such bytes yet takes up to
 * 0.2 us for each, a hundred times as long as for the bytes of most bodies: a limit in bytes alone is too high or costs too much.
 */
export const LONGEST_IN_TURN_MS = 0.5;
/** Shorter reads are too quick to be timed. */
const TIMED_BYTES = 8 * 1024;

/**
 * A socket with much to read is read again and again in one turn of the event loop: a body that is scanned as it
 * arrives would take all of it. After some bytes of bodies a connection waits a turn, in which everything else is served.
 */
export class BodyTurns {
  #bytes = 0;
  #ms = 0;
  #began = 0;
  #isWaiting = false;
  readonly #socket: Pick<Socket, 'destroyed' | 'pause' | 'resume'>;
  readonly #mayResume: () => boolean;
  readonly #now: () => number;

  /** @param mayResume whether the connection has not paused the socket for another reason */
  constructor(
    socket: Pick<Socket, 'destroyed' | 'pause' | 'resume'>,
    mayResume: () => boolean,
    now = () => performance.now(),
  ) {
    this.#socket = socket;
    this.#mayResume = mayResume;
    this.#now = now;
  }

  /** These bytes are read from now on, until `took`. */
  begin(bytes: number): void {
    this.#began = bytes < TIMED_BYTES ? 0 : this.#now();
  }

  took(bytes: number): void {
    this.#bytes += bytes;
    if (this.#began > 0) this.#ms += this.#now() - this.#began;
    if ((this.#bytes < MOST_IN_TURN && this.#ms < LONGEST_IN_TURN_MS) || this.#isWaiting) return;
    this.#isWaiting = true;
    this.#socket.pause();
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#bytes = 0;
    this.#ms = 0;
    this.#isWaiting = false;
    if (this.#mayResume() && !this.#socket.destroyed) this.#socket.resume();
  };
}
