import type { Socket } from 'node:net';

/** What a connection shows of how far its client has read. */
type Connection = Pick<Socket, 'writableLength' | 'bytesRead' | 'bytesWritten' | 'destroy'>;

interface Progress {
  taken: number;
  atMs: number;
}

/**
 * Cuts off clients that do not read. What waits for them keeps memory, a connection and perhaps a replica, even when the
 * gateway is done with their request; so it is the connection that is looked at, now and then, and no request pays for it.
 */
export class StalledClients {
  readonly #connections = new Map<Connection, Progress>();

  get size(): number {
    return this.#connections.size;
  }

  add(connection: Connection): void {
    // No client has taken so little: its time begins with the first look.
    this.#connections.set(connection, { taken: -1, atMs: 0 });
  }

  remove(connection: Connection): void {
    this.#connections.delete(connection);
  }

  /** Cuts off everybody for whom something waits and who has taken nothing of it for so long. */
  cut(nowMs: number, longestMs: number): void {
    for (const [connection, progress] of this.#connections) {
      const waiting = connection.writableLength;
      const taken = connection.bytesWritten - waiting;
      if (waiting === 0 || taken !== progress.taken) {
        progress.taken = taken;
        progress.atMs = nowMs;
      } else if (nowMs - progress.atMs >= longestMs) connection.destroy();
    }
  }

  /** Cuts off those who have connected and never said anything. */
  cutUnused(): void {
    for (const connection of this.#connections.keys()) if (connection.bytesRead === 0) connection.destroy();
  }
}
