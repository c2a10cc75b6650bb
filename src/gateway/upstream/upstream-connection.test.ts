import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { until } from '../fake-engine.fixture.js';
import { MALFORMED, MALFORMED_CHUNKS } from './responses.fixture.js';
import { GET, Listening, POST, RawServer, response, send } from './upstream.fixture.js';
import { sendTurn } from './upstream-connection.js';
import type { UpstreamPool } from './upstream-pool.js';

let server: RawServer;
afterEach(() => server.stop());

async function serving(request: ConstructorParameters<typeof RawServer>[0]): Promise<UpstreamPool> {
  server = new RawServer(request);
  return (await server.listen()).pool();
}

const turns = async (count = 20) => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

const HALF = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello';

describe('a connection is not used again', () => {
  it.each([
    ['after `connection: close`', response('x', 'connection: close')],
    ['after an answer with something behind it', `${response('x')}HTTP/1.1 200 OK\r\n`],
    ['after an answer with another behind it', response('x') + response('y')],
    ['after HTTP/1.0', response('x').replace('1.1', '1.0')],
  ])('%s', async (_, bytes) => {
    const pool = await serving((socket) => socket.write(bytes));
    expect((await send(pool).over).body).toBe('x');
    expect(pool.stats).toMatchObject({ connections: 0, idle: 0 });
    expect((await send(pool).over).body).toBe('x');
    expect(pool.stats.opened).toBe(2);
  });

  it('when unexpected bytes arrive', async () => {
    const pool = await serving((socket) => socket.write(response('x')));
    await send(pool).over;
    server.sockets[0]!.write('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n');
    await until(() => pool.stats.connections === 0);
    expect((await send(pool).over).body).toBe('x');
  });

  it('when the replica has closed it', async () => {
    const pool = await serving((socket) => socket.write(response('x')));
    await send(pool).over;
    server.sockets[0]!.end();
    await until(() => pool.stats.connections === 0);
    await send(pool).over;
    server.sockets[1]!.resetAndDestroy();
    await until(() => pool.stats.connections === 0);
  });

  it('when the response came before the request was sent', async () => {
    // Reads nothing, so that most of the body is not sent.
    const deaf = createServer((socket) => {
      socket.on('error', () => {}).pause();
      socket.write(response('too large'));
    });
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
    server = new RawServer(() => {});
    await server.listen();
    server.url = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}`;
    const pool = server.pool();
    expect((await send(pool, { ...POST, body: Buffer.alloc(50_000_000) }).over).body).toBe('too large');
    expect(pool.stats.connections).toBe(0);
    await pool.destroy();
    deaf.close();
  });

  it.each([...MALFORMED, ...MALFORMED_CHUNKS])('after %s', async (_, bytes) => {
    const pool = await serving((socket) => socket.write(bytes, 'latin1'));
    const { error, calls } = await send(pool).over;
    expect([error?.code, calls.at(-1)]).toEqual(['UPSTREAM_MALFORMED', 'error']);
    expect(pool.stats).toMatchObject({ connections: 0, idle: 0 });
  });

  it.each([
    ['before its first byte', ''],
    ['in its head', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['in its body', HALF],
    ['between chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n'],
    ['before its trailers end', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n'],
  ])('after a response that breaks off %s', async (_, bytes) => {
    const pool = await serving((socket) => socket.end(bytes));
    const { error, calls } = await send(pool).over;
    expect([error?.code, calls.includes('complete')]).toEqual(['UPSTREAM_CUT', false]);
    expect(pool.stats).toMatchObject({ connections: 0, opened: 1, repeated: 0 });
  });

  it('after a reset', async () => {
    const pool = await serving((socket) => socket.write(HALF));
    const reset = send(pool);
    await until(() => reset.calls.length > 0);
    server.sockets[0]!.resetAndDestroy();
    expect((await reset.over).error?.code).toBe('ECONNRESET');
    expect(pool.stats.connections).toBe(0);
  });
});

describe('a request on a connection that the replica has closed meanwhile', () => {
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  beforeEach(() => {
    aheadMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
  });
  afterEach(() => vi.restoreAllMocks());

  /** The first connection serves one request, then is idle; the test decides what happens to its second request. */
  const closing = async (close: (socket: Socket) => void, idleMs = 2000) => {
    const pool = await serving((socket, number, text) => {
      if (number === 1 && socket === server.sockets[0]) close(socket);
      else socket.write(response(text.split(' ')[0]!));
    });
    await send(pool).over;
    aheadMs += idleMs;
    return pool;
  };

  it.each([
    ['by a reset', (socket: Socket) => void socket.resetAndDestroy()],
    ['orderly', (socket: Socket) => void socket.end()],
  ])('is sent again, %s, POST included', async (_, close) => {
    const pool = await closing(close);
    const second = await send(pool).over;
    expect([second.body, second.calls]).toEqual(['POST', ['headers', 'last', 'complete']]);
    expect(pool.stats).toMatchObject({ connections: 1, idle: 1, opened: 2, repeated: 1 });
  });

  it('is not sent again when part of a response was received', async () => {
    const pool = await closing((socket) => void socket.end('H'));
    expect((await send(pool).over).error?.code).toBe('UPSTREAM_CUT');
    expect(pool.stats).toMatchObject({ opened: 1, repeated: 0 });
  });

  it('is not sent again when the response was malformed', async () => {
    const pool = await closing((socket) => void socket.end('nonsense'));
    expect((await send(pool).over).error?.code).toBe('UPSTREAM_MALFORMED');
    expect(pool.stats).toMatchObject({ opened: 1, repeated: 0 });
  });

  it('is not sent again when it was the first', async () => {
    const pool = await serving((socket) => socket.resetAndDestroy());
    aheadMs += 2000;
    expect((await send(pool).over).error?.code).toBe('ECONNRESET');
    expect(pool.stats).toMatchObject({ opened: 1, repeated: 0 });
  });

  it('is not sent again when the connection was in use just before', async () => {
    const pool = await closing((socket) => void socket.end(), 100);
    expect((await send(pool).over).error?.code).toBe('UPSTREAM_CUT');
    expect(pool.stats).toMatchObject({ opened: 1, repeated: 0 });
  });

  it('is not sent a third time', async () => {
    const pool = await serving((socket, number) => {
      if (number === 0 && socket === server.sockets[0]) socket.write(response('x'));
      else socket.end();
    });
    await send(pool).over;
    aheadMs += 2000;
    expect((await send(pool).over).error?.code).toBe('UPSTREAM_CUT');
    expect(pool.stats).toMatchObject({ connections: 0, opened: 2, repeated: 1 });
  });

  it('is not sent again when it failed late: the replica may have read it', async () => {
    let requests = 0;
    const pool = await closing(() => requests++);
    const second = send(pool);
    await until(() => requests === 1);
    aheadMs += 2000;
    server.sockets[0]!.resetAndDestroy();
    expect((await second.over).error?.code).toBe('ECONNRESET');
    expect(pool.stats).toMatchObject({ opened: 1, repeated: 0 });
  });

  it('can be aborted when it is sent again', async () => {
    const pool = await closing((socket) => void socket.end());
    const second = send(pool);
    await until(() => pool.stats.repeated === 1);
    second.request!.abort();
    await turns();
    expect([second.calls, pool.stats.connections]).toEqual([[], 0]);
  });
});

describe('back-pressure', () => {
  it('stops reading until it is resumed', async () => {
    const size = 30_000_000;
    const body = Buffer.alloc(size, 'x');
    const pool = await serving((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
      socket.write(body);
    });
    const handler = new Listening();
    handler.takes = false;
    send(pool, GET, handler);
    for (let stops = 1; stops <= 3; stops++) {
      await until(() => handler.pieces.length === stops);
      // Long enough for everything in flight.
      await turns(100);
      expect(handler.pieces.length).toBe(stops);
      expect(server.sockets[0]!.writableLength).toBeGreaterThan(0);
      handler.request!.resume();
      handler.request!.resume();
    }
    handler.takes = true;
    handler.request!.resume();
    expect((await handler.over).body.length).toBe(size);
    expect(pool.stats.idle).toBe(1);
  });

  it('does not delay a response that has already been received, nor the next', async () => {
    const pool = await serving((socket) => socket.write(response('x')));
    const handler = new Listening();
    handler.takes = false;
    send(pool, GET, handler);
    expect((await handler.over).calls).toEqual(['headers', 'last', 'complete']);
    handler.request!.resume();
    expect((await send(pool).over).body).toBe('x');
    expect(pool.stats.opened).toBe(1);
  });

  it('may be lifted by the handler itself', async () => {
    const pool = await serving((socket) => socket.write(HALF));
    const handler = new Listening();
    send(pool, GET, handler);
    await until(() => handler.calls.includes('data'));
    handler.takes = false;
    server.sockets[0]!.write('wo');
    await until(() => handler.pieces.length === 2);
    handler.takes = true;
    handler.request!.resume();
    server.sockets[0]!.write('rld');
    expect((await handler.over).body).toBe('helloworld');
  });
});

describe('abort', () => {
  /** No further callbacks, the replica sees the disconnect, and the pool stays usable. */
  async function endsWith(pool: UpstreamPool, handler: Listening, calls: string[]): Promise<void> {
    await until(() => server.sockets.every((socket) => socket.destroyed));
    await turns();
    expect(handler.calls).toEqual(calls);
    expect(pool.stats).toMatchObject({ connections: 0, idle: 0, waiting: 0 });
    handler.request!.abort();
    handler.request!.resume();
  }

  it('before there is a connection', async () => {
    const pool = await serving(() => {});
    const handler = send(pool);
    handler.request!.abort();
    await endsWith(pool, handler, []);
  });

  it('in the queue', async () => {
    server = new RawServer(() => {});
    const pool = (await server.listen()).pool({ mostConnections: 1, mostWaiting: 1 });
    const first = send(pool);
    const second = send(pool);
    second.request!.resume();
    second.request!.abort();
    expect(pool.stats.waiting).toBe(0);
    const third = send(pool);
    first.request!.abort();
    await until(() => server.sockets.length >= 1 && pool.stats.waiting === 0);
    third.request!.abort();
    await pool.close();
    await endsWith(pool, second, []);
    expect([first.calls, third.calls]).toEqual([[], []]);
  });

  it('of the last in the queue lets the pool close', async () => {
    server = new RawServer(() => {});
    const pool = (await server.listen()).pool({ mostConnections: 1 });
    const [first, second] = [send(pool), send(pool)];
    const closing = pool.close();
    first.request!.abort();
    second.request!.abort();
    await closing;
  });

  it('when it was sent', async () => {
    let requests = 0;
    const pool = await serving(() => requests++);
    const handler = send(pool);
    await until(() => requests === 1);
    handler.request!.abort();
    await endsWith(pool, handler, []);
  });

  it('in the middle of a head', async () => {
    const pool = await serving((socket) => socket.write('HTTP/1.1 200'));
    const handler = send(pool);
    await until(() => server.sockets.length === 1);
    await turns();
    handler.request!.abort();
    await endsWith(pool, handler, []);
  });

  it('when the head comes', async () => {
    const pool = await serving((socket) => socket.write(HALF));
    const handler = new Listening();
    handler.act = () => handler.request!.abort();
    send(pool, POST, handler);
    await until(() => handler.calls.length > 0);
    await endsWith(pool, handler, ['headers']);
  });

  it('when data come', async () => {
    const pool = await serving((socket) => socket.write(HALF));
    const handler = new Listening();
    handler.takes = false;
    handler.act = (call) => call === 'data' && handler.request!.abort();
    send(pool, POST, handler);
    await until(() => handler.calls.length > 1);
    await endsWith(pool, handler, ['headers', 'data']);
  });

  it('between data', async () => {
    const pool = await serving((socket) => socket.write(HALF));
    const handler = send(pool);
    await until(() => handler.calls.includes('data'));
    handler.request!.abort();
    await endsWith(pool, handler, ['headers', 'data']);
  });

  it('when reading has stopped', async () => {
    const pool = await serving((socket) => socket.write(HALF));
    const handler = new Listening();
    handler.takes = false;
    send(pool, POST, handler);
    await until(() => handler.calls.includes('data'));
    handler.request!.abort();
    await endsWith(pool, handler, ['headers', 'data']);
  });

  it('of a complete response keeps the connection', async () => {
    const pool = await serving((socket) => socket.write(response('x')));
    const handler = new Listening();
    handler.act = () => handler.request!.abort();
    send(pool, POST, handler);
    await until(() => pool.stats.idle === 1);
    expect(handler.calls).toEqual(['headers']);
    expect((await send(pool).over).body).toBe('x');
    expect(pool.stats.opened).toBe(1);
  });

  it('after the end does nothing, not even to the next request on that connection', async () => {
    const pool = await serving((socket, number) => number === 0 && socket.write(response('x')));
    const first = await send(pool).over;
    const second = send(pool);
    first.request!.abort();
    first.request!.resume();
    await turns();
    expect(pool.stats).toMatchObject({ connections: 1, idle: 0 });
    server.sockets[0]!.write(response('y'));
    expect((await second.over).body).toBe('y');
  });

  it('of the next request, from the end of the one before', async () => {
    server = new RawServer((socket) => socket.write(response('x')));
    const pool = (await server.listen()).pool({ mostConnections: 1 });
    const first = new Listening();
    send(pool, POST, first);
    const second = send(pool);
    first.act = (call) => call === 'complete' && second.request!.abort();
    await first.over;
    expect(second.calls).toEqual([]);
    expect((await send(pool).over).body).toBe('x');
    // No byte of the second was sent: its connection stays usable.
    expect(pool.stats).toMatchObject({ idle: 1, opened: 1 });
  });

  it('before it was sent, and the next one gets its connection', async () => {
    const bodies: string[] = [];
    const pool = await serving((socket, _number, text) => {
      bodies.push(text.split('\r\n\r\n')[1]!);
      socket.write(response('x'));
    });
    await send(pool).over;
    const given = send(pool, { ...POST, body: Buffer.from('unwanted') });
    given.request!.abort();
    const next = send(pool, { ...POST, body: Buffer.from('wanted') });
    expect((await next.over).body).toBe('x');
    expect([given.calls, bodies.slice(1), pool.stats.opened]).toEqual([[], ['wanted'], 1]);
  });
});

describe('a request that is not sent yet', () => {
  afterEach(() => vi.restoreAllMocks());

  it.each<[string, (socket: Socket) => void]>([
    ['when unexpected bytes arrive', (socket) => socket.write(response('of nobody'))],
    ['when the replica ends the connection', (socket) => socket.end()],
    ['when the replica resets it', (socket) => socket.resetAndDestroy()],
  ])('is sent on another connection %s', async (_, act) => {
    const pool = await serving((socket) => socket.write(response('x')));
    await send(pool).over;
    const turn = vi.spyOn(sendTurn, 'wait').mockImplementation(() => {});
    const handler = send(pool);
    act(server.sockets[0]!);
    await until(() => pool.stats.repeated === 1);
    turn.mockRestore();
    expect((await handler.over).body).toBe('x');
    expect(pool.stats.opened).toBe(2);
  });
});

describe('a handler that throws', () => {
  const thrown: unknown[] = [];
  const catching = async (work: () => Promise<void>) => {
    const before = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => thrown.push(error));
    try {
      await work();
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of before) process.on('uncaughtException', listener);
    }
    return thrown.splice(0);
  };
  const throwing = (at: string, also?: (handler: Listening) => void) => {
    const handler = new Listening();
    handler.act = (call) => {
      if (call !== at) return;
      also?.(handler);
      throw new Error(`thrown at ${call}`);
    };
    return handler;
  };

  it.each(['headers', 'data'])('at %s gets the error, and its connection ends', async (at) => {
    const pool = await serving((socket) => socket.write(HALF));
    const handler = await send(pool, POST, throwing(at)).over;
    expect(handler.error?.message).toBe(`thrown at ${at}`);
    expect(handler.calls.slice(-2)).toEqual([at, 'error']);
    await until(() => server.sockets.every((socket) => socket.destroyed));
    expect(pool.stats.connections).toBe(0);
  });

  it('gets a thrown value that is not an Error, too', async () => {
    const pool = await serving((socket) => socket.write(HALF));
    const handler = new Listening();
    handler.act = (call) => {
      if (call === 'headers') throw 'words';
    };
    expect((await send(pool, POST, handler).over).error?.message).toBe('words');
  });

  it('at the end affects nothing else', async () => {
    const pool = await serving((socket) => socket.write(response('x')));
    const errors = await catching(async () => {
      await send(pool, POST, throwing('complete')).over;
      expect(pool.stats).toMatchObject({ connections: 1, idle: 1 });
      expect((await send(pool).over).body).toBe('x');
    });
    expect(errors).toEqual([new Error('thrown at complete')]);
    expect(pool.stats.opened).toBe(1);
  });

  it('at an error does not keep other handlers from being called', async () => {
    const pool = await serving(() => {});
    const errors = await catching(async () => {
      const handlers = [throwing('error'), throwing('error'), new Listening()];
      for (const handler of handlers) send(pool, POST, handler);
      await pool.destroy();
      expect(handlers.map(({ calls }) => calls)).toEqual([['error'], ['error'], ['error']]);
    });
    expect(errors.length).toBe(2);
  });

  it('after an abort is reported to the process only', async () => {
    const pool = await serving((socket) => socket.write(HALF));
    const handler = throwing('headers', ({ request }) => request!.abort());
    const errors = await catching(async () => {
      send(pool, POST, handler);
      await until(() => thrown.length > 0);
    });
    expect(errors).toEqual([new Error('thrown at headers')]);
    expect([handler.calls, pool.stats.connections]).toEqual([['headers'], 0]);
  });
});
