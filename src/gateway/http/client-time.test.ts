import { describe, expect, it } from 'vitest';
import { ClientPace, ClientPatience, NEVER } from './client-time.js';

/** A client's socket: bytes written, and those not sent yet. */
class Client {
  bytesWritten = 0;
  writableLength = 0;
  readonly #pace = new ClientPace();
  give(bytes: number): void {
    this.bytesWritten += bytes;
    this.writableLength += bytes;
  }
  take(bytes: number): void {
    this.writableLength -= bytes;
  }
  hasStalled(nowMs: number): boolean {
    return this.#pace.hasStalled(this, nowMs, 100);
  }
}

describe('ClientPace', () => {
  it('reports a client that takes nothing for too long, and not before', () => {
    const client = new Client();
    client.give(1000);
    expect([50, 149, 150].map((ms) => client.hasStalled(ms))).toEqual([false, false, true]);
  });

  it('waits for a client that takes a little now and then', () => {
    const client = new Client();
    client.give(1000);
    for (let ms = 0; ms < 1000; ms += 90) {
      client.take(1);
      expect(client.hasStalled(ms)).toBe(false);
    }
  });

  it('notices that bytes were taken when as many were written', () => {
    const client = new Client();
    client.give(1000);
    for (let ms = 0; ms < 1000; ms += 90) {
      client.take(500);
      client.give(500);
      expect(client.hasStalled(ms)).toBe(false);
    }
  });

  it('does not count time in which no bytes waited', () => {
    const client = new Client();
    expect([0, 10_000].map((ms) => client.hasStalled(ms))).toEqual([false, false]);
    client.give(1);
    expect([10_099, 10_100].map((ms) => client.hasStalled(ms))).toEqual([false, true]);
  });
});

describe('ClientPatience', () => {
  it('expires after a time in one phase, counted from the first check', () => {
    const patience = new ClientPatience();
    expect([50, 149, 150].map((ms) => patience.isOver(ms, 100))).toEqual([false, false, true]);
    patience.begin();
    expect([200, 299, 300].map((ms) => patience.isOver(ms, 100))).toEqual([false, false, true]);
    expect([400, 5000].map((ms) => patience.isOver(ms, NEVER))).toEqual([false, false]);
    expect([5001, 5100, 5101].map((ms) => patience.isOver(ms, 100))).toEqual([false, false, true]);
  });
});
