import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { until } from '../fake-engine.fixture.js';
import { Listening, PATIENT, send } from './upstream.fixture.js';
import { UpstreamPool } from './upstream-pool.js';

const EXCHANGES = 2000;
const AT_ONCE = 40;

/** What a server does with a request, by its path. Each response names its request. */
const KINDS: Record<string, (name: string, response: ServerResponse) => void> = {
  plain: (name, response) => void response.end(name),
  sized: (name, response) => void response.writeHead(200, { 'content-length': name.length }).end(name),
  empty: (_, response) => void response.writeHead(204).end(),
  closing: (name, response) => void response.writeHead(200, { connection: 'close' }).end(name),
  stream: (name, response) => {
    let left = 5;
    const next = () => {
      response.write(name);
      if (--left > 0) setImmediate(next);
      else response.end();
    };
    next();
  },
  cut: (name, response) => {
    response.write(name);
    setImmediate(() => response.destroy());
  },
  reset: (_, response) => void response.socket!.resetAndDestroy(),
  hinting: (name, response) => {
    response.writeEarlyHints({ link: '</a>; rel=preload' });
    response.end(name);
  },
  left: (name, response) => void response.write(name),
};

const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind.startsWith('TCP')).length;

describe('thousands of exchanges of all kinds', () => {
  let server: Server;
  afterEach(() => server.closeAllConnections());

  it('get their own responses, and leave nothing behind', async () => {
    const before = sockets();
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    server = createServer((request: IncomingMessage, response) => {
      request.resume().on('end', () => KINDS[request.url!.split('/')[1]!]!(request.url!, response));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const pool = new UpstreamPool(url, { ...PATIENT, mostConnections: 16 });
    const random = randomStream(7, 'mixed-exchanges');
    const names = Object.keys(KINDS);

    const one = async (number: number): Promise<void> => {
      const kind = names[random.below(names.length)]!;
      const path = `/${kind}/${number}`;
      const handler = new Listening();
      if (kind === 'left') handler.act = (call, { request }) => call === 'data' && setImmediate(() => request!.abort());
      const size = random.below(4000);
      send(pool, { path, method: 'POST', headers: ['x-number', String(number)], body: Buffer.alloc(size) }, handler);
      if (kind === 'left') {
        await until(() => handler.request!.carrier === null);
        expect(handler.calls).toEqual(['headers', 'data']);
        return;
      }
      const { body, calls, error } = await handler.over;
      const fails = kind === 'cut' || kind === 'reset';
      expect([calls.at(-1), error !== null]).toEqual(fails ? ['error', true] : ['complete', false]);
      if (!fails) expect(body).toBe(kind === 'empty' ? '' : path.repeat(kind === 'stream' ? 5 : 1));
    };
    let next = 0;
    const worker = async () => {
      while (next < EXCHANGES) await one(next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));

    expect(pool.stats.waiting).toBe(0);
    expect(pool.stats.connections).toBe(pool.stats.idle);
    expect(pool.stats.connections).toBeLessThanOrEqual(16);
    await pool.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    // Sockets of earlier tests may have closed meanwhile.
    await until(() => sockets() <= before);
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });
});
