import { describe, expect, it } from 'vitest';
import { ClientPace } from './client-pace.js';

/** A client as the gateway sees it: what was given to it, and how much of that it has not taken. */
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
  it('sees who takes nothing for too long, and not before', () => {
    const client = new Client();
    client.give(1000);
    expect([50, 149, 150].map((ms) => client.hasStalled(ms))).toEqual([false, false, true]);
  });

  it('waits for who takes a little now and then', () => {
    const client = new Client();
    client.give(1000);
    for (let ms = 0; ms < 1000; ms += 90) {
      client.take(1);
      expect(client.hasStalled(ms)).toBe(false);
    }
  });

  it('sees that something was taken when as much has come', () => {
    const client = new Client();
    client.give(1000);
    for (let ms = 0; ms < 1000; ms += 90) {
      client.take(500);
      client.give(500);
      expect(client.hasStalled(ms)).toBe(false);
    }
  });

  it('does not count time in which nothing waited', () => {
    const client = new Client();
    expect([0, 10_000].map((ms) => client.hasStalled(ms))).toEqual([false, false]);
    client.give(1);
    expect([10_099, 10_100].map((ms) => client.hasStalled(ms))).toEqual([false, true]);
  });
});
