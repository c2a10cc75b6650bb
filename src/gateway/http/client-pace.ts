import type { Socket } from 'node:net';

/**
 * Whether a client reads. What waits for one that does not keeps memory, a connection and perhaps a replica, even when the gateway
 * is done with its request; so it is the connection that is looked at, now and then, and no request pays for it.
 */
export class ClientPace {
  /** No client has taken so little: its time begins with the first look. */
  #taken = -1;
  #atMs = 0;

  /** Whether something waits for the client and it has taken nothing of it for so long. */
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
