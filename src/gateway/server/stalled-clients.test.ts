import { describe, expect, it } from 'vitest';
import { StalledClients } from './stalled-clients.js';

/** A client as the gateway sees it: what was given to it, and how much of that it has not taken. */
class Client {
  bytesRead = 0;
  bytesWritten = 0;
  writableLength = 0;
  isCut = false;
  destroy(): this {
    this.isCut = true;
    return this;
  }
  give(bytes: number): void {
    this.bytesWritten += bytes;
    this.writableLength += bytes;
  }
  take(bytes: number): void {
    this.writableLength -= bytes;
  }
}

function watched(): { client: Client; clients: StalledClients } {
  const clients = new StalledClients();
  const client = new Client();
  clients.add(client as never);
  return { client, clients };
}

describe('StalledClients', () => {
  it('cuts off who takes nothing for too long, and not before', () => {
    const { client, clients } = watched();
    client.give(1000);
    clients.cut(50, 100);
    clients.cut(149, 100);
    expect(client.isCut).toBe(false);
    clients.cut(150, 100);
    expect(client.isCut).toBe(true);
  });

  it('waits for who takes a little now and then', () => {
    const { client, clients } = watched();
    client.give(1000);
    for (let ms = 0; ms < 1000; ms += 90) {
      client.take(1);
      clients.cut(ms, 100);
    }
    expect(client.isCut).toBe(false);
  });

  it('sees that something was taken when as much has come', () => {
    const { client, clients } = watched();
    client.give(1000);
    for (let ms = 0; ms < 1000; ms += 90) {
      client.take(500);
      client.give(500);
      clients.cut(ms, 100);
    }
    expect(client.isCut).toBe(false);
  });

  it('does not count time in which nothing waited', () => {
    const { client, clients } = watched();
    clients.cut(0, 100);
    clients.cut(10_000, 100);
    client.give(1);
    clients.cut(10_099, 100);
    expect(client.isCut).toBe(false);
    clients.cut(10_100, 100);
    expect(client.isCut).toBe(true);
  });

  it('cuts off those who have never said anything when it is told to, and no others', () => {
    const { client, clients } = watched();
    const asking = new Client();
    asking.bytesRead = 1;
    clients.add(asking as never);
    clients.cutUnused();
    expect([client.isCut, asking.isCut]).toEqual([true, false]);
  });

  it('forgets who has left', () => {
    const { client, clients } = watched();
    expect(clients.size).toBe(1);
    clients.remove(client as never);
    client.give(1);
    clients.cut(0, 1);
    clients.cut(1000, 1);
    expect([clients.size, client.isCut]).toEqual([0, false]);
  });
});
