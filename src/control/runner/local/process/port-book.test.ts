import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { PortBook } from './port-book.js';

test('assigns each free port below the range of outgoing connections once', async () => {
  const book = new PortBook('here', '32768\t60999\n');
  const ports = await Promise.all(Array.from({ length: 20 }, () => book.take()));
  expect(new Set(ports).size).toBe(20);
  for (const port of ports) {
    expect(port).toBeGreaterThanOrEqual(20_000);
    expect(port).toBeLessThan(32_768);
  }
  book.release(ports[0]!);
  expect(ports).not.toContain(await book.take());
});

test('control planes in different folders begin at different ports', async () => {
  expect(await new PortBook('here').take()).not.toBe(await new PortBook('there').take());
});

test('does not assign a port that is in use or reserved', async () => {
  const first = await new PortBook('here').take();
  const server = createServer().listen(first, '127.0.0.1');
  await once(server, 'listening');
  const book = new PortBook('here');
  book.keep(first + 1);
  expect(await book.take()).toBeGreaterThan(first + 1);
  server.close();
  await once(server, 'close');
  expect(await new PortBook('here').take()).toBe(first);
});

test('throws when all ports are taken', async () => {
  // One port is left below this range.
  const book = new PortBook('here', '20001 60999');
  expect(await book.take()).toBe(20_000);
  await expect(book.take()).rejects.toMatchObject({ code: 'RUNNER_NO_PORT' });
  book.release(20_000);
  expect(await book.take()).toBe(20_000);
});

test('uses the default range when it cannot be read', async () => {
  const book = new PortBook('here', '');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  expect(await book.take()).not.toBe((server.address() as AddressInfo).port);
  server.close();
});
