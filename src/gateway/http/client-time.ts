import type { Socket } from 'node:net';

/** No time is too long. */
export const NEVER = Number.POSITIVE_INFINITY;

/**
 * Whether a client reads its responses. Unread bytes hold memory, a connection and perhaps a replica. A timer of the
 * port checks connections at intervals, so that requests read no clock.
 */
export class ClientPace {
  /** Bytes that the client had taken at the last check; -1 before the first, with which its time begins. */
  #taken = -1;
  #atMs = 0;

  /** Whether bytes wait for the client and it has taken none for `longestMs`. */
  hasStalled(
    { bytesWritten, writableLength }: Pick<Socket, 'bytesWritten' | 'writableLength'>,
    nowMs: number,
    longestMs: number,
  ): boolean {
    const taken = bytesWritten - writableLength;
    if (writableLength > 0 && taken === this.#taken) return nowMs - this.#atMs >= longestMs;
    this.#taken = taken;
    this.#atMs = nowMs;
    return false;
  }
}

/** How long a client has been in one phase of a request, as far as the checks of the port can see. */
export class ClientPatience {
  /** When the phase was first seen; -1 before. */
  #sinceMs = -1;

  /** Starts another phase. */
  begin(): void {
    this.#sinceMs = -1;
  }

  /** Whether the phase has lasted for `longestMs`, counted from its first check. */
  isOver(nowMs: number, longestMs: number): boolean {
    if (longestMs === NEVER) this.#sinceMs = -1;
    else if (this.#sinceMs < 0) this.#sinceMs = nowMs;
    else return nowMs - this.#sinceMs >= longestMs;
    return false;
  }
}
