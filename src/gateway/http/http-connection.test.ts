import { describe, expect, it } from 'vitest';
import { until } from '../fake-engine.fixture.js';
import type { RequestHandler } from '../server/listener.js';
import { Client, get, LONG, port, post, reply, timed } from './http-port.fixture.js';
import type { HttpResponse } from './http-response.js';

describe('a connection ends', () => {
  it('after a response that says so, once the port is handed over', async () => {
    const due: HttpResponse[] = [];
    const { client, send, state } = await timed((_, response) => due.push(response));
    await send(get('/1'));
    due[0]!.writeHead(200, ['content-length', '2']);
    due[0]!.flushHeaders();
    expect(await client.has(/\r\n\r\n/)).toContain('connection: keep-alive');
    // The client has read that it may send another request.
    Object.assign(state, { isStopping: true, isHandingOver: true });
    due[0]!.end('ok');
    await send(get('/2'));
    await until(() => due.length === 2);
    reply(due[1]!, 'ok');
    expect(await client.closed()).toMatch(/ok[\s\S]*connection: close\r\n[\s\S]*ok$/);
  });

  it('with status 400 when the client hangs up in the middle of a request', async () => {
    const { listener, refused } = await port((request) => request.collect(100, () => {}));
    for (const text of ['GET / HT', post('hello').slice(0, -1)]) {
      const client = new Client(listener);
      client.socket.end(text);
      expect(await client.closed()).toMatch(/^HTTP\/1\.1 400 [\s\S]*it is incomplete/);
    }
    expect(refused).toEqual([400, 400]);
  });

  it('when the client hangs up after its last response', async () => {
    const { listener, refused } = await port((_, response) => reply(response, 'ok'));
    const client = new Client(listener);
    client.socket.end(get('/'));
    expect(await client.closed()).toMatch(/ok$/);
    const silent = new Client(listener);
    silent.socket.end();
    expect(await silent.closed()).toBe('');
    expect(refused).toEqual([]);
  });

  it('without losing bytes of the response to an incomplete request', async () => {
    const { listener } = await port((_, response) => reply(response, 'x'.repeat(16_000_000)));
    const client = new Client(listener);
    client.socket.pause();
    client.socket.end(post('hello').slice(0, -1));
    await until(() => listener.size === 1);
    // Another client is served when the first one's hang-up has been read.
    const { length } = await new Client(listener).send(get('/', 'connection: close\r\n')).closed();
    client.socket.resume();
    expect((await client.closed()).length).toBeGreaterThanOrEqual(length);
  });

  it('only when the client has read its last response', async () => {
    const { check, client, socket } = await timed((_, response) => reply(response, 'x'.repeat(16_000_000)));
    client.socket.pause();
    client.send(get('/', 'connection: close\r\n'));
    await until(() => socket.bytesRead > 0);
    for (let ms = 0; ms < 50_000; ms += 1000) check(ms);
    expect([socket.destroyed, socket.writableLength > 0]).toEqual([false, true]);
    client.socket.resume();
    expect((await client.closed()).length).toBeGreaterThan(16_000_000);
  });

  it('and the handler is notified when the client disconnects before its response', async () => {
    let left = false;
    const { listener } = await port((_, response) => {
      response.onClose = () => {
        left = true;
      };
    });
    new Client(listener).socket.end(get('/'));
    await until(() => left);
  });

  it('on a port that stops, after the responses due; an incomplete head is not waited for', async () => {
    const due: HttpResponse[] = [];
    const { listener } = await port((_, response) => void due.push(response));
    const asking = new Client(listener).send(get('/'));
    const dawdling = new Client(listener).send('GET / HTTP/1.1\r\nho');
    await until(() => due.length === 1 && listener.size === 2);
    const stopped = listener.stop();
    await dawdling.closed();
    reply(due[0]!, 'the last');
    expect(await asking.closed()).toMatch(/the last$/);
    await stopped;
  });

  it('only after a refused client had time to read the refusal', async () => {
    const { listener } = await port((_, response) => reply(response, 'ok'), { timeouts: { ...LONG, idleMs: 100 } });
    const client = new Client(listener);
    client.socket.removeAllListeners('end');
    client.send(`nonsense\r\n\r\n${'x'.repeat(50_000)}`);
    await client.has(/400[\s\S]*not valid HTTP/);
    client.send('x'.repeat(10_000));
    // It does not hang up, so the connection is cut.
    await until(() => listener.size === 0);
  });
});

describe('a handler that throws', () => {
  it.each<[string, RequestHandler]>([
    [
      'at once',
      () => {
        throw new Error('oh');
      },
    ],
    [
      'after the body',
      (request) =>
        request.collect(100, () => {
          throw new Error('oh');
        }),
    ],
  ])('%s closes its connection and no other', async (_, handler) => {
    const { faults, listener } = await port((request, response) =>
      request.method === 'GET' ? reply(response, 'fine') : handler(request, response),
    );
    const wire = post('hello');
    const client = new Client(listener).send(wire.slice(0, -1));
    await until(() => listener.size === 1);
    client.send(wire.slice(-1) + get('/never'));
    expect(await client.closed()).toBe('');
    expect(faults).toEqual([expect.objectContaining({ message: 'oh' })]);
    await new Client(listener).send(get('/')).has(/fine/);
  });
});
