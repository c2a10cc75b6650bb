import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HttpTransport } from './http-transport.js';

let server: Server;
let left: Promise<void>;
beforeEach(async () => {
  let leave: () => void;
  left = new Promise((resolve) => {
    leave = resolve;
  });
  // One event, and then silence.
  server = createServer((_, response) => {
    response.on('close', () => leave());
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it('ends a stream with the signal, even long after the request', async () => {
  const client = new HttpTransport({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 't' });
  const stop = new AbortController();
  const events = client.events('/', {}, stop.signal);
  expect((await events.next()).value).toEqual({ event: 'message', data: 'first' });
  const next = events.next();
  for (let i = 0; i < 10; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  stop.abort();
  expect(await next).toEqual({ value: undefined, done: true });
  await left;
});
