import { describe, expect, it } from 'vitest';
import { until } from '../fake-engine.fixture.js';
import type { Listener } from '../server/listener.js';
import { Client, get, port, reply, timed } from './http-port.fixture.js';
import type { HttpResponse } from './http-response.js';

describe('pipelined requests', () => {
  it('get their responses in order, whichever is ready first', async () => {
    const due: HttpResponse[] = [];
    const { listener } = await port((_, response) => void due.push(response));
    const client = new Client(listener).send(get('/').repeat(3));
    await until(() => due.length === 3);
    due[2]!.writeHead(200, []);
    due[2]!.write('third, ');
    reply(due[1]!, 'second');
    expect([client.text, due.map(({ isEnded }) => isEnded)]).toEqual(['', [false, true, false]]);
    due[0]!.writeHead(200, []);
    due[0]!.write('first');
    due[0]!.end();
    due[2]!.end('and last');
    const text = await client.has(/and last\r\n0\r\n\r\n/);
    expect(text.match(/first|second|third, |and last/g)).toEqual(['first', 'second', 'third, ', 'and last']);
  });

  it('buffer a bounded part of a response before its turn', async () => {
    const due: HttpResponse[] = [];
    const { listener } = await port((_, response) => void due.push(response));
    const client = new Client(listener).send(get('/').repeat(2));
    await until(() => due.length === 2);
    const [first, second] = due as [HttpResponse, HttpResponse];
    second.writeHead(200, []);
    second.flushHeaders();
    expect([second.write(Buffer.alloc(40_000)), second.isBehind]).toEqual([true, false]);
    expect([second.write(Buffer.alloc(40_000)), second.isBehind]).toEqual([false, true]);
    let isTold = false;
    second.onDrain = () => {
      isTold = true;
      second.end();
    };
    reply(first, 'first');
    await until(() => isTold);
    await client.has(/\r\n0\r\n\r\n$/);
  });

  it('beyond a limit are not read until responses are sent', async () => {
    const due: HttpResponse[] = [];
    const { listener } = await port((_, response) => void due.push(response));
    const client = new Client(listener).send(get('/').repeat(100));
    await until(() => due.length === 32);
    let answered = 0;
    while (answered < 100) {
      await until(() => due.length > answered);
      expect(due.length - answered).toBeLessThanOrEqual(32);
      reply(due[answered++]!, `<${answered}>`);
    }
    await client.has(/<100>/);
    expect(client.text.match(/<\d+>/g)).toEqual(Array.from({ length: 100 }, (_, i) => `<${i + 1}>`));
  });

  it('are all closed when the client hangs up, and so are those behind a last response', async () => {
    let left = 0;
    const due: HttpResponse[] = [];
    const { listener } = await port((_, response) => {
      response.onClose = () => {
        left++;
      };
      due.push(response);
    });
    const client = new Client(listener).send(get('/').repeat(5));
    await until(() => due.length === 5);
    client.socket.destroy();
    await until(() => left === 5);
    const other = new Client(listener).send(get('/').repeat(3));
    await until(() => due.length === 8);
    due[5]!.shouldKeepAlive = false;
    reply(due[5]!, 'the last');
    expect(left).toBe(7);
    reply(due[6]!, 'too late');
    due[7]!.destroy();
    expect(await other.closed()).toMatch(/the last$/);
  });

  it.each<[string, (response: HttpResponse, listener: Listener) => void]>([
    [
      'a response that closes the connection',
      (response) => {
        response.shouldKeepAlive = false;
        reply(response, 'the last');
      },
    ],
    [
      'the last response of a port that stops',
      (response, listener) => {
        void listener.stop();
        reply(response, 'the last');
      },
    ],
    ['a destroyed connection', (response) => response.destroy()],
  ])('are not handled behind %s', async (_, answer) => {
    let asked = 0;
    const { listener } = await port((__, response) => {
      asked++;
      answer(response, listener);
    });
    await new Client(listener).send(get('/').repeat(3)).closed();
    expect(asked).toBe(1);
  });

  it('have their timeout from their own first byte', async () => {
    const { check, refused, send } = await timed(() => {});
    await send(`${get('/1')}GET`);
    check(0);
    await send(` /2 HTTP/1.1\r\nhost: h\r\n\r\nGET`);
    check(9);
    check(18);
    expect(refused).toEqual([]);
    check(19);
    expect(refused).toEqual([408]);
  });

  it('that time out are refused once, however long the responses before them take', async () => {
    const due: HttpResponse[] = [];
    const { check, client, refused, send } = await timed((_, response) => void due.push(response));
    await send(`${get('/')}GET`);
    for (let ms = 0; ms < 100; ms++) check(ms);
    expect(refused).toEqual([408]);
    reply(due[0]!, 'fine');
    expect((await client.closed()).match(/HTTP\/1\.1 \d+|fine/g)).toEqual(['HTTP/1.1 200', 'fine', 'HTTP/1.1 408']);
  });

  it('that are malformed are refused after the responses that are due', async () => {
    const due: HttpResponse[] = [];
    const { listener, refused } = await port((_, response) => void due.push(response));
    const client = new Client(listener).send(`${get('/')}nonsense`).send('\r\n\r\n');
    await until(() => refused.length === 1);
    reply(due[0]!, 'fine');
    expect((await client.closed()).match(/HTTP\/1\.1 \d+|fine/g)).toEqual(['HTTP/1.1 200', 'fine', 'HTTP/1.1 400']);
  });
});
