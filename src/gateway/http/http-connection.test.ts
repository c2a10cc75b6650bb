import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Listener, type ListenerParts, type RequestHandler } from '../server/listener.js';
import { until } from '../toy-engine.contract.js';
import { AnswerWriter } from './answer-writer.js';
import { HttpConnection } from './http-connection.js';
import type { HttpResponse } from './http-response.js';
import { reply } from './reply.contract.js';
import { SharedReader } from './request-reader.js';

const LONG = { headersMs: 60_000, bodyMs: 60_000, idleMs: 60_000 };

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A port, and what it told of what should not be. */
async function port(handler: RequestHandler, change: Partial<ListenerParts> = {}) {
  const faults: unknown[] = [];
  const refused: number[] = [];
  const listener = new Listener(
    { host: '127.0.0.1', port: 0, tls: null },
    {
      headerBytes: 4096,
      discardBytes: 100_000,
      connections: 100,
      timeouts: LONG,
      handler,
      refused: (status) => refused.push(status),
      fault: (error) => faults.push(error),
      ...change,
    },
  );
  await listener.start();
  opened.push(async () => {
    const stopped = listener.stop();
    listener.cut();
    await stopped;
  });
  return { listener, faults, refused };
}

/** Somebody who speaks in bytes. */
class Client {
  text = '';
  isClosed = false;
  readonly socket: Socket;

  constructor({ url }: Pick<Listener, 'url'>) {
    this.socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', (piece) => {
      this.text += piece.toString('latin1');
    });
    this.socket.on('end', () => this.socket.end());
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isClosed = true;
    });
    opened.push(() => void this.socket.destroy());
  }

  send(text: string): this {
    this.socket.write(text, 'latin1');
    return this;
  }

  async has(pattern: RegExp): Promise<string> {
    await until(() => pattern.test(this.text));
    return this.text;
  }

  async closed(): Promise<string> {
    await until(() => this.isClosed);
    return this.text;
  }
}

/** A connection whose time passes as a test says, and its client. */
async function timed(handle: RequestHandler) {
  const refused: number[] = [];
  const host = { reader: new SharedReader(4096), writer: new AnswerWriter(), isSecure: false, isStopping: false };
  const rest = { discardBytes: 100_000, handle, refused: (status: number) => refused.push(status), left: () => {} };
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  await new Promise((resolve) => server.once('listening', resolve));
  opened.push(() => void server.close());
  const client = new Client({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const socket = await accepted;
  const fault = (error: unknown) => {
    throw error;
  };
  const connection = new HttpConnection(socket, { ...host, ...rest, fault });
  const times = { headersMs: 10, bodyMs: 100, idleMs: 60_000 };
  return {
    client,
    refused,
    socket,
    check: (nowMs: number) => connection.check(nowMs, times),
    /** Sends something and waits until it is there. */
    send: async (text: string) => {
      const bytes = socket.bytesRead + text.length;
      client.send(text);
      await until(() => socket.bytesRead === bytes);
    },
  };
}

const get = (path: string, headers = '', version = '1.1') => `GET ${path} HTTP/${version}\r\nhost: h\r\n${headers}\r\n`;
const post = (body: string, headers = '') =>
  `POST / HTTP/1.1\r\nhost: h\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
/** The heads and bodies of all answers, without what is in each. */
const bare = (text: string) => text.replace(/date: [^\r]*\r\n/g, '').replaceAll('keep-alive: timeout=75\r\n', '');

describe('an answer', () => {
  const streamed: RequestHandler = (_, response) => {
    response.writeHead(200, ['x-a', 'b']);
    response.write('one');
    response.write('');
    response.write(Buffer.from('twó'));
    response.end();
    response.end('again');
    response.write('again');
    response.writeHead(500, []);
  };

  it('has one date: its own, or when it was made', async () => {
    const made = 'Thu, 01 Jan 1970 00:00:00 GMT';
    const { listener } = await port(({ url }, response) => {
      response.writeHead(204, url === '/old' ? ['Date', made] : []);
      response.end();
    });
    const text = await new Client(listener).send(get('/old') + get('/', 'connection: close\r\n')).closed();
    expect(text.match(/^date: .*(?=\r$)/gim)).toEqual([`Date: ${made}`, expect.stringMatching(/^date: .* GMT$/)]);
    expect(text).not.toMatch(/^date: .* 1970/m);
  });

  it('of no known length comes in chunks', async () => {
    const { listener } = await port(streamed);
    const client = new Client(listener).send(get('/') + get('/', 'connection: close\r\n'));
    const [first, second] = bare(await client.closed()).split(/(?<=0\r\n\r\n)/);
    const chunks = '3\r\none\r\n4\r\ntw\xc3\xb3\r\n0\r\n\r\n';
    const head = 'HTTP/1.1 200 OK\r\nx-a: b\r\ntransfer-encoding: chunked\r\n';
    expect(first).toBe(`${head}connection: keep-alive\r\n\r\n${chunks}`);
    expect(second).toBe(`${head}connection: close\r\n\r\n${chunks}`);
  });

  it('goes to the end of the connection for who knows no chunks', async () => {
    const { listener } = await port(streamed);
    const client = new Client(listener).send(get('/', 'connection: keep-alive\r\n', '1.0'));
    expect(bare(await client.closed())).toBe('HTTP/1.1 200 OK\r\nx-a: b\r\nconnection: close\r\n\r\nonetw\xc3\xb3');
  });

  it('of known length keeps even an old client’s connection', async () => {
    const { listener } = await port((_, response) => reply(response, 'ok'));
    const client = new Client(listener).send(get('/', 'connection: keep-alive\r\n', '1.0') + get('/', '', '1.0'));
    const answer = (connection: string) =>
      `HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: ${connection}\r\n\r\nok`;
    expect(bare(await client.closed())).toBe(answer('keep-alive') + answer('close'));
  });

  it('to HEAD, and one without a body, is a head alone', async () => {
    const { listener } = await port((request, response) => {
      if (request.method === 'HEAD') reply(response, 'never');
      else {
        response.writeHead(Number(request.url.slice(1)), []);
        response.end('never');
      }
    });
    const client = new Client(listener);
    client.send(get('/').replace('GET', 'HEAD') + get('/204') + get('/304') + get('/599', 'connection: close\r\n'));
    expect(bare(await client.closed())).toBe(
      [
        'HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: keep-alive\r\n\r\n',
        'HTTP/1.1 204 No Content\r\nconnection: keep-alive\r\n\r\n',
        'HTTP/1.1 304 Not Modified\r\nconnection: keep-alive\r\n\r\n',
        'HTTP/1.1 599 Unknown\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n5\r\nnever\r\n0\r\n\r\n',
      ].join(''),
    );
  });

  it('larger than any buffer arrives, and its client is waited for', async () => {
    const piece = Buffer.alloc(200_000, 'x');
    let waits = 0;
    const { listener } = await port((_, response) => {
      response.writeHead(200, []);
      let left = 40;
      const more = () => {
        while (left-- > 0) {
          if (response.write(piece)) continue;
          waits++;
          expect(response.isBehind).toBe(true);
          response.onDrain = more;
          return;
        }
        response.end(piece);
      };
      more();
    });
    const client = new Client(listener).send(get('/', 'connection: close\r\n'));
    const text = await client.closed();
    const body = text.slice(text.indexOf('\r\n\r\n') + 4);
    expect(body).toBe(`30d40\r\n${piece}\r\n`.repeat(41).concat('0\r\n\r\n'));
    expect(waits).toBeGreaterThan(0);
  });

  it('with a header that is none is not sent at all', async () => {
    for (const size of [1, 100_000]) {
      const { faults, listener } = await port((_, response) => {
        response.writeHead(200, ['x-a', 'b\r\nset-cookie: evil']);
        response.end('x'.repeat(size));
      });
      expect(await new Client(listener).send(get('/')).closed()).toBe('');
      expect(faults).toEqual([expect.objectContaining({ message: 'an answer has a header that is none' })]);
    }
  });
});

describe('requests sent ahead', () => {
  it('are answered in their order, whatever order the answers are made in', async () => {
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

  it('hold no more of an answer than they should, and it goes on in its turn', async () => {
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

  it('wait in the hands of their client when they are too many', async () => {
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

  it('are all told when their client leaves, and those behind a last answer too', async () => {
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
      'an answer that ends the connection',
      (response) => {
        response.shouldKeepAlive = false;
        reply(response, 'the last');
      },
    ],
    [
      'the last answer of a port that stops',
      (response, listener) => {
        void listener.stop();
        reply(response, 'the last');
      },
    ],
    ['a connection that was cut', (response) => response.destroy()],
  ])('are not handled behind %s', async (_, answer) => {
    let asked = 0;
    const { listener } = await port((__, response) => {
      asked++;
      answer(response, listener);
    });
    await new Client(listener).send(get('/').repeat(3)).closed();
    expect(asked).toBe(1);
  });

  it('have their time from their own first byte', async () => {
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

  it('that do not come are told so once, however long the answers before take', async () => {
    const due: HttpResponse[] = [];
    const { check, client, refused, send } = await timed((_, response) => void due.push(response));
    await send(`${get('/')}GET`);
    for (let ms = 0; ms < 100; ms++) check(ms);
    expect(refused).toEqual([408]);
    reply(due[0]!, 'fine');
    expect((await client.closed()).match(/HTTP\/1\.1 \d+|fine/g)).toEqual(['HTTP/1.1 200', 'fine', 'HTTP/1.1 408']);
  });

  it('that are no HTTP are told so behind the answers that are due', async () => {
    const due: HttpResponse[] = [];
    const { listener, refused } = await port((_, response) => void due.push(response));
    const client = new Client(listener).send(`${get('/')}nonsense`).send('\r\n\r\n');
    await until(() => refused.length === 1);
    reply(due[0]!, 'fine');
    expect((await client.closed()).match(/HTTP\/1\.1 \d+|fine/g)).toEqual(['HTTP/1.1 200', 'fine', 'HTTP/1.1 400']);
  });
});

describe('a body', () => {
  it('that nobody has asked for yet waits', async () => {
    let ask: (() => void) | null = null;
    let got = '';
    const { listener } = await port((request, response) => {
      ask = () =>
        request.collect(1_000_000, (body) => {
          got = body!.toString();
          reply(response, 'thanks');
        });
    });
    const body = 'x'.repeat(300_000);
    const client = new Client(listener).send(post(body).slice(0, 200));
    client.send(post(body).slice(200));
    await until(() => ask !== null);
    expect(client.text).toBe('');
    ask!();
    await client.has(/thanks/);
    expect(got).toBe(body);
  });

  it('is thrown away behind its answer, up to a limit', async () => {
    const { listener } = await port((request, response) => reply(response, `no ${request.url}`));
    const client = new Client(listener);
    client.send(post('x'.repeat(90_000)) + get('/next'));
    await client.has(/no \/next/);
    client.send(post('x'.repeat(100_001)));
    expect((await client.closed()).match(/no \/(next)?/g)).toEqual(['no /', 'no /next', 'no /']);
  });

  it('is asked for when somebody waits to be', async () => {
    const { listener } = await port((request, response) => {
      if (request.header('x-no') !== undefined) reply(response, 'no', 403);
      else request.collect(10, (body) => reply(response, body === null ? 'too large' : `got ${body}`));
    });
    const expecting = 'Expect: 100-Continue\r\n';
    const client = new Client(listener).send(post('hello', expecting).slice(0, -5));
    expect(await client.has(/\r\n\r\n/)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.send('hello');
    await client.has(/got hello/);
    // Who does not wait is not told.
    client.text = '';
    client.send(post('again', expecting));
    expect(await client.has(/got again/)).toMatch(/^HTTP\/1\.1 200 /);
    client.text = '';
    client.send(post('hello', `${expecting}x-no: 1\r\n`).slice(0, -5));
    expect(bare(await client.closed())).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*\r\nconnection: close\r\n\r\nno$/);
  });

  it('whose sender expects something else is no longer waited for', async () => {
    let asked = 0;
    const { listener, refused } = await port(() => asked++);
    const client = new Client(listener).send(post('hello', 'expect: 200-ok\r\n').slice(0, -5));
    expect(bare(await client.closed())).toMatch(/^HTTP\/1\.1 417 [^{]*\r\nconnection: close\r\n\r\n[^\r]*$/);
    expect([asked, refused]).toEqual([0, [417]]);
  });

  it('of a request sent ahead is asked for in its turn', async () => {
    const due: HttpResponse[] = [];
    const { listener } = await port((request, response) => {
      if (request.method === 'GET') due.push(response);
      else request.collect(10, (body) => reply(response, `got ${body}`));
    });
    const client = new Client(listener).send(get('/') + post('hello', 'expect: 100-continue\r\n').slice(0, -5));
    await until(() => due.length === 1);
    reply(due[0]!, 'first');
    expect(await client.has(/100 Continue\r\n\r\n/)).toMatch(/firstHTTP\/1\.1 100 Continue\r\n\r\n$/);
    client.send('hello');
    await client.has(/got hello/);
  });
});

describe('the end', () => {
  it('of a client in the middle of a request is told', async () => {
    const { listener, refused } = await port((request) => request.collect(100, () => {}));
    for (const text of ['GET / HT', post('hello').slice(0, -1)]) {
      const client = new Client(listener);
      client.socket.end(text);
      expect(await client.closed()).toMatch(/^HTTP\/1\.1 400 [\s\S]*it breaks off/);
    }
    expect(refused).toEqual([400, 400]);
  });

  it('of a client that has its answers is the end of its connection', async () => {
    const { listener, refused } = await port((_, response) => reply(response, 'ok'));
    const client = new Client(listener);
    client.socket.end(get('/'));
    expect(await client.closed()).toMatch(/ok$/);
    const silent = new Client(listener);
    silent.socket.end();
    expect(await silent.closed()).toBe('');
    expect(refused).toEqual([]);
  });

  it('of a client that was answered before it had said everything loses nothing of its answer', async () => {
    const { listener } = await port((_, response) => reply(response, 'x'.repeat(16_000_000)));
    const client = new Client(listener);
    client.socket.pause();
    client.socket.end(post('hello').slice(0, -1));
    await until(() => listener.size === 1);
    // Somebody else is served when the end of the first has been seen.
    const { length } = await new Client(listener).send(get('/', 'connection: close\r\n')).closed();
    client.socket.resume();
    expect((await client.closed()).length).toBeGreaterThanOrEqual(length);
  });

  it('comes to no client that still takes its last answer', async () => {
    const { check, client, socket } = await timed((_, response) => reply(response, 'x'.repeat(16_000_000)));
    client.socket.pause();
    client.send(get('/', 'connection: close\r\n'));
    await until(() => socket.bytesRead > 0);
    for (let ms = 0; ms < 50_000; ms += 1000) check(ms);
    expect([socket.destroyed, socket.writableLength > 0]).toEqual([false, true]);
    client.socket.resume();
    expect((await client.closed()).length).toBeGreaterThan(16_000_000);
  });

  it('of a client that waits for its answer is noticed', async () => {
    let left = false;
    const { listener } = await port((_, response) => {
      response.onClose = () => {
        left = true;
      };
    });
    new Client(listener).socket.end(get('/'));
    await until(() => left);
  });

  it('of a port comes when what is due is answered, and half a head is not', async () => {
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

  it('does not come too early for who was told to go: it gets what it was told', async () => {
    const { listener } = await port((_, response) => reply(response, 'ok'), { timeouts: { ...LONG, idleMs: 100 } });
    const client = new Client(listener);
    client.socket.removeAllListeners('end');
    client.send(`nonsense\r\n\r\n${'x'.repeat(50_000)}`);
    await client.has(/400[\s\S]*not valid HTTP/);
    client.send('x'.repeat(10_000));
    // It does not hang up, and is cut off.
    await until(() => listener.size === 0);
  });
});

describe('whoever answers and fails', () => {
  it.each<[string, RequestHandler]>([
    [
      'at once',
      () => {
        throw new Error('oh');
      },
    ],
    [
      'behind the body',
      (request) =>
        request.collect(100, () => {
          throw new Error('oh');
        }),
    ],
  ])('%s costs one connection', async (_, handler) => {
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
