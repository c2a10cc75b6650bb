import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { PortBook } from './port-book.js';

test('ports are free, below those of outgoing connections, and each goes to one', async () => {
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

test('control planes at different places begin at different ports', async () => {
  expect(await new PortBook('here').take()).not.toBe(await new PortBook('there').take());
});

test('a port that somebody has is not given, nor one that is kept', async () => {
  const first = await new PortBook('here').take();
  const server = createServer().listen(first, '127.0.0.1');
  await once(server, 'listening');
  const book = new PortBook('here');
  book.keep(first + 1);
  expect(await book.take()).toBeGreaterThan(first + 1);
  await expect(book.takeExactly(first)).rejects.toMatchObject({ code: 'RUNNER_PORT_TAKEN' });
  await expect(book.takeExactly(first + 1)).rejects.toMatchObject({ code: 'RUNNER_PORT_TAKEN' });
  server.close();
  await once(server, 'close');
  expect(await book.takeExactly(first)).toBe(first);
});

test('when all are taken there is none', async () => {
  // One port is left below this range.
  const book = new PortBook('here', '20001 60999');
  expect(await book.take()).toBe(20_000);
  await expect(book.take()).rejects.toMatchObject({ code: 'RUNNER_NO_PORT' });
  book.release(20_000);
  expect(await book.take()).toBe(20_000);
});

test('a range that says nothing is the usual one', async () => {
  const book = new PortBook('here', '');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  expect(await book.take()).not.toBe((server.address() as AddressInfo).port);
  server.close();
});
