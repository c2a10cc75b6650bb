import { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../fake-engine.fixture.js';
import { GET, Listening, PATIENT, POST, RawServer, response, send } from './upstream.fixture.js';
import { UpstreamPool } from './upstream-pool.js';

let server: RawServer;
afterEach(() => server.stop());

/** Echoes each request. */
const echo = async () => {
  server = new RawServer((socket, _, text) => socket.write(response(text)));
  return (await server.listen()).pool();
};

/** Sends nothing by itself; `server.sockets` are the connections. */
async function silent(): Promise<RawServer> {
  server = new RawServer(() => {});
  return server.listen();
}

describe('UpstreamPool', () => {
  it('sends requests, and reuses a connection', async () => {
    const pool = await echo();
    const first = await send(pool, POST).over;
    expect(first.calls).toEqual(['headers', 'last', 'complete']);
    expect(first.body).toBe(
      `POST /v1/x HTTP/1.1\r\nhost: ${server.url.slice(7)}\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\r\n{"a":1}`,
    );
    expect(pool.stats).toEqual({ connections: 1, idle: 1, waiting: 0, opened: 1, repeated: 0 });
    const second = await send(pool, GET).over;
    expect(second.body).toMatch(/^GET \/x HTTP/);
    expect(pool.stats).toEqual({ connections: 1, idle: 1, waiting: 0, opened: 1, repeated: 0 });
  });

  it('sends bodies of any size, also many at once', async () => {
    const pool = await echo();
    const bodies = [0, 1, 60_000, 65_536, 1_500_000].map((size, i) => Buffer.alloc(size, 97 + i));
    const sent = await Promise.all(
      bodies.flatMap((body) => [send(pool, { ...POST, body }), send(pool, { ...POST, body })].map(({ over }) => over)),
    );
    for (const [i, { body, error }] of sent.entries()) {
      expect(error).toBeNull();
      expect(body.slice(body.indexOf('\r\n\r\n') + 4)).toBe(bodies[i >> 1]!.toString('latin1'));
    }
    const again = await Promise.all(bodies.map((body) => send(pool, { ...POST, body }).over));
    for (const [i, { body }] of again.entries()) {
      expect(body.slice(body.indexOf('\r\n\r\n') + 4)).toBe(bodies[i]!.toString('latin1'));
    }
  });

  it('knows that the response to HEAD has no body', async () => {
    server = new RawServer((socket, _, text) => {
      socket.write(text.startsWith('HEAD') ? 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n' : response('x'));
    });
    const pool = (await server.listen()).pool();
    expect((await send(pool, { ...GET, method: 'HEAD' }).over).calls).toEqual(['headers', 'complete']);
    expect((await send(pool, GET).over).body).toBe('x');
    expect(pool.stats.opened).toBe(1);
  });

  it.each([
    ['a socket takes its time', false],
    ['nobody says when it is out', true],
  ])('keeps what it sends as long as %s', async (_, isSecure) => {
    const pool = await echo();
    const written: Buffer[] = [];
    const open = (_read: unknown, opened: () => void) => {
      setImmediate(opened);
      // Never reports a write as done.
      return new Duplex({ read() {}, write: (bytes: Buffer) => void written.push(bytes) });
    };
    Object.assign(pool, { origin: { isSecure, open } });
    send(pool, { ...POST, body: Buffer.from('first') });
    send(pool, { ...POST, body: Buffer.from('other') });
    await until(() => written.length === 2);
    expect(written.map((bytes) => bytes.toString('latin1').slice(-5))).toEqual(['first', 'other']);
  });

  it('queues requests in order when all connections are in use, and refuses those beyond the queue', async () => {
    await silent();
    const pool = server.pool({ mostConnections: 2, mostWaiting: 2 });
    const [a, b, c, d, e] = [1, 2, 3, 4, 5].map((n) => send(pool, { ...GET, path: `/${n}` }));
    expect([e!.error?.code, e!.calls]).toEqual(['UPSTREAM_BUSY', ['error']]);
    expect(pool.stats).toMatchObject({ connections: 2, waiting: 2 });
    await until(() => server.sockets.length === 2);
    const [one, two] = server.sockets;
    one!.write(response('first'));
    two!.write(response('second'));
    await Promise.all([a!.over, b!.over]);
    expect(pool.stats).toMatchObject({ connections: 2, idle: 0, waiting: 0, opened: 2 });
    one!.write(response('third'));
    two!.write(response('fourth'));
    const bodies = (await Promise.all([a!.over, b!.over, c!.over, d!.over])).map(({ body }) => body).sort();
    expect(bodies).toEqual(['first', 'fourth', 'second', 'third']);
    expect(pool.stats).toMatchObject({ connections: 2, idle: 2, waiting: 0 });
  });

  it('gives the place of a lost connection to the next in the queue', async () => {
    await silent();
    const pool = server.pool({ mostConnections: 1 });
    const [a, b] = [send(pool), send(pool)];
    await until(() => server.sockets.length === 1);
    server.sockets[0]!.destroy();
    expect((await a.over).error?.code).toMatch(/^(UPSTREAM_CUT|ECONNRESET)$/);
    await until(() => server.sockets.length === 2);
    server.sockets[1]!.write(response('b'));
    expect((await b.over).body).toBe('b');
  });

  it('reports a refused connection to each request', async () => {
    await silent();
    const url = server.url;
    await server.stop();
    const pool = new UpstreamPool(url, { ...PATIENT, mostConnections: 1 });
    const sent = await Promise.all([send(pool), send(pool), send(pool)].map(({ over }) => over));
    expect(sent.map(({ error }) => error?.code)).toEqual(['ECONNREFUSED', 'ECONNREFUSED', 'ECONNREFUSED']);
    expect(pool.stats).toMatchObject({ connections: 0, waiting: 0, opened: 3 });
    await pool.destroy();
    await silent();
  });

  it('resolves a host name, whichever of its addresses accepts the connection', async () => {
    const pool = await echo();
    expect((await send(pool, GET).over).error).toBeNull();
    const named = new UpstreamPool(server.url.replace('127.0.0.1', 'localhost'), PATIENT);
    expect((await send(named, GET).over).body).toMatch(/host: localhost:/);
    await named.destroy();
  });

  describe('applies timeouts', () => {
    /** Longer than a test takes: only time that a test adds counts. */
    const LIMIT_MS = 1_000_000;

    it('of responses that do not begin, and not of those that have', async () => {
      await silent();
      const pool = server.pool({ connectMs: 5 * LIMIT_MS, headersMs: LIMIT_MS });
      const late = send(pool);
      const begun = send(pool);
      await until(() => server.sockets.length === 2);
      // The handler that is called shows which connection belongs to which request.
      server.sockets[1]!.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no');
      await until(() => late.calls.length + begun.calls.length > 0);
      const [heard, unheard] = begun.calls.length > 0 ? [begun, late] : [late, begun];
      pool.sweep(performance.now() + 0.9 * LIMIT_MS);
      expect(unheard.error).toBeNull();
      pool.sweep(performance.now() + LIMIT_MS + 1);
      expect([unheard.error?.code, heard.error]).toEqual(['UPSTREAM_HEADERS_TIMEOUT', null]);
      server.sockets[1]!.write('k');
      expect((await heard.over).body).toBe('ok');
    });

    it('of heads that do not end', async () => {
      await silent();
      const pool = server.pool({ connectMs: 5 * LIMIT_MS, headersMs: LIMIT_MS });
      const drip = send(pool);
      await until(() => server.sockets.length === 1);
      server.sockets[0]!.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-le');
      await new Promise((resolve) => setImmediate(resolve));
      pool.sweep(performance.now() + LIMIT_MS + 1);
      expect(drip.calls).toEqual(['error']);
      expect(drip.error?.code).toBe('UPSTREAM_HEADERS_TIMEOUT');
    });

    it('of connections that cannot be opened', async () => {
      await silent();
      const pool = new UpstreamPool(server.url.replace('http', 'https'), {
        ...PATIENT,
        connectMs: LIMIT_MS,
        headersMs: 2 * LIMIT_MS,
      });
      const sent = send(pool);
      await until(() => server.sockets.length === 1);
      pool.sweep(performance.now() + 0.9 * LIMIT_MS);
      expect(sent.error).toBeNull();
      pool.sweep(performance.now() + LIMIT_MS + 1);
      expect(sent.error?.code).toBe('UPSTREAM_CONNECT_TIMEOUT');
      const later = send(pool);
      pool.sweep(performance.now() + 2 * LIMIT_MS + 1);
      expect(later.error?.code).toBe('UPSTREAM_HEADERS_TIMEOUT');
      await pool.destroy();
    });

    it('of those in the queue', async () => {
      await silent();
      const pool = server.pool({ connectMs: 5 * LIMIT_MS, headersMs: LIMIT_MS, mostConnections: 1 });
      const sent = [send(pool), send(pool), send(pool)];
      pool.sweep(performance.now() + LIMIT_MS + 1);
      // The first released its connection to the second, which still times out.
      pool.sweep(performance.now() + LIMIT_MS + 1);
      expect(sent.map(({ error }) => error?.code)).toEqual(Array(3).fill('UPSTREAM_HEADERS_TIMEOUT'));
      expect(pool.stats).toMatchObject({ connections: 0, waiting: 0 });
    });

    it('by a timer of its own', async () => {
      server = new RawServer((socket, number) => number === 0 && socket.write(response('x')));
      await server.listen();
      const pool = server.pool({ keepAliveMs: 5 });
      await send(pool).over;
      await until(() => pool.stats.connections === 0);
      const hasty = server.pool({ headersMs: 40 });
      await send(hasty).over;
      expect((await send(hasty).over).error?.code).toBe('UPSTREAM_HEADERS_TIMEOUT');
    });

    it.each([
      ['as long as it says', 'x: y', 4_000_000],
      // A second less, for the way.
      ['or as the replica says, if that is shorter', 'keep-alive: timeout=3000', 2_999_000],
      ['but no longer than it says', 'keep-alive: timeout=75000', 4_000_000],
    ])('keeping them %s', async (_, line, keptMs) => {
      server = new RawServer((socket) => socket.write(response('x', line)));
      await server.listen();
      const pool = server.pool({ keepAliveMs: 4_000_000 });
      await send(pool).over;
      pool.sweep(performance.now() + 0.9 * keptMs);
      expect(pool.stats.idle).toBe(1);
      pool.sweep(performance.now() + keptMs + 1);
      expect(pool.stats).toMatchObject({ connections: 0, idle: 0 });
    });

    it('and uses none that has been idle for too long', async () => {
      server = new RawServer((socket) => socket.write(response('x', 'keep-alive: timeout=1')));
      await server.listen();
      const pool = server.pool();
      await send(pool).over;
      await send(pool).over;
      expect(pool.stats.opened).toBe(2);
    });
  });

  it.each([
    ['behind a response', (first: string) => `${first}${response('evil')}`, ''],
    ['behind chunks', () => 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\nevil', ''],
    ['on an idle connection', (first: string) => first, response('evil')],
  ])('uses each connection once for a while after bytes that no request asked for, %s', async (_, sent, later) => {
    let requests = 0;
    server = new RawServer((socket) => socket.write(++requests === 1 ? sent(response('x')) : response('x')));
    await server.listen();
    const pool = server.pool();
    const beside = server.pool({ distrustMs: 0 });
    expect((await send(pool).over).body).toBe('x');
    if (later !== '') server.sockets[0]!.write(later);
    await until(() => pool.stats.connections === 0);
    for (let i = 0; i < 3; i++) expect((await send(pool).over).body).toBe('x');
    await until(() => pool.stats.connections === 0);
    expect(pool.stats).toMatchObject({ opened: 4, idle: 0 });
    requests = 0;
    for (let i = 0; i < 4; i++) await send(beside).over;
    expect(beside.stats.opened).toBe(later === '' ? 2 : 1);
  });

  it('opens a connection for each in the queue while a replica is not trusted', async () => {
    const waiting: (() => void)[] = [];
    server = new RawServer((socket) => waiting.push(() => socket.write(`${response('x')}${response('evil')}`)));
    await server.listen();
    const pool = server.pool({ mostConnections: 1 });
    const sent = [send(pool), send(pool), send(pool)];
    for (const [i, one] of sent.entries()) {
      await until(() => waiting.length === i + 1);
      waiting[i]!();
      expect((await one.over).body).toBe('x');
    }
    expect(pool.stats.opened).toBe(3);
  });

  it('closes when its last request has ended, including those in the queue', async () => {
    await silent();
    const pool = server.pool({ mostConnections: 1 });
    const [a, b] = [send(pool), send(pool)];
    await until(() => server.sockets.length === 1);
    let isClosed = false;
    const closing = pool.close().then(() => {
      isClosed = true;
    });
    expect([pool.closed, pool.destroyed]).toEqual([true, false]);
    expect((await send(pool).over).error?.code).toBe('UPSTREAM_CLOSED');
    server.sockets[0]!.write(response('a'));
    await a.over;
    expect(isClosed).toBe(false);
    server.sockets[0]!.write(response('b'));
    expect((await b.over).body).toBe('b');
    await closing;
    expect(pool.stats).toMatchObject({ connections: 0, idle: 0 });
    await pool.close();
  });

  it('closes at once when nothing is under way, and when waiting requests are aborted', async () => {
    const pool = await echo();
    await pool.close();
    const used = server.pool();
    await send(used).over;
    await used.close();
    expect(used.stats.connections).toBe(0);
  });

  it('is destroyed with all requests under way, each notified once', async () => {
    await silent();
    const pool = server.pool({ mostConnections: 2 });
    const sent = [send(pool), send(pool), send(pool), send(pool)];
    // A handler may abort other requests, whose handlers are then not called.
    sent[2]!.act = () => sent[3]!.request!.abort();
    await until(() => server.sockets.length === 2);
    server.sockets[0]!.write('HTTP/1.1 200 OK\r\n\r\n');
    await until(() => sent.some(({ calls }) => calls.length > 0));
    await pool.destroy();
    expect([pool.closed, pool.destroyed]).toEqual([true, true]);
    expect(sent.map(({ error }) => error?.code)).toEqual([...Array(3).fill('UPSTREAM_CLOSED'), undefined]);
    expect(pool.stats).toMatchObject({ connections: 0, waiting: 0 });
    expect((await send(pool).over).error?.code).toBe('UPSTREAM_CLOSED');
  });

  it('reports a request that cannot be sent, and keeps the connection', async () => {
    server = new RawServer((socket) => socket.write(response('x')));
    const pool = (await server.listen()).pool({ mostConnections: 1 });
    const bad = { ...POST, headers: ['x', 'a\r\nb'] };
    const expectRefused = async () => {
      const handler = new Listening();
      pool.dispatch(bad, handler);
      await handler.over;
      expect([handler.error?.code, handler.calls]).toEqual(['UPSTREAM_BAD_REQUEST', ['error']]);
    };
    await expectRefused();
    expect(pool.stats.connections).toBe(0);
    const first = send(pool);
    await expectRefused();
    expect(pool.stats).toMatchObject({ connections: 1, waiting: 0 });
    await first.over;
    await expectRefused();
    expect(pool.stats).toMatchObject({ connections: 1, idle: 1 });
    expect((await send(pool).over).body).toBe('x');
    expect(pool.stats).toMatchObject({ connections: 1, idle: 1, opened: 1 });
  });
});
