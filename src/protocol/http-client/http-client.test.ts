import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { getStatus } from './get-status.js';
import { networkProblem } from './network-problem.js';
import { readResponseText } from './read-response-text.js';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serving(handler: Parameters<typeof createServer>[1]): Promise<string> {
  server = createServer(handler!).listen(0, '127.0.0.1');
  await new Promise((resolve) => server!.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('getStatus', () => {
  test('returns the status on a new connection, without waiting for the body', async () => {
    const ports = new Set<number>();
    const url = await serving((request, response) => {
      ports.add(request.socket.remotePort!);
      response.writeHead(503).write('never ends');
    });
    expect([await getStatus(url, 10_000), await getStatus(url, 10_000)]).toEqual([503, 503]);
    expect(ports.size).toBe(2);
  });

  test('throws when there is no response in time', async () => {
    const url = await serving(() => {});
    await expect(getStatus(url, 20)).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  test('throws errors that networkProblem explains', async () => {
    const url = await serving(() => {});
    await new Promise((resolve) => server!.close(resolve));
    const error = await getStatus(url, 10_000).catch((thrown: unknown) => thrown);
    expect(networkProblem(error)).toBe('connection refused');
  });
});

describe('networkProblem', () => {
  test('looks for a code in the cause, and never repeats a message', () => {
    expect(networkProblem(new TypeError('fetch failed', { cause: { code: 'ENOTFOUND' } }))).toBe('host not found');
    expect(networkProblem({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })).toContain('certificate not accepted');
    expect(networkProblem(new Error('http://user:secret@host'))).toBe('connection failed');
  });
});

describe('readResponseText', () => {
  async function* pieces(...texts: string[]) {
    for (const text of texts) yield Buffer.from(text);
  }

  test('joins the pieces before it decodes them', async () => {
    const [first, second] = [Buffer.from('ü').subarray(0, 1), Buffer.from('ü').subarray(1)];
    async function* halves() {
      yield first!;
      yield second!;
    }
    expect(await readResponseText(halves(), 2)).toBe('ü');
  });

  test('is undefined beyond the limit', async () => {
    expect(await readResponseText(pieces('abc', 'de'), 5)).toBe('abcde');
    expect(await readResponseText(pieces('abc', 'def'), 5)).toBeUndefined();
  });
});
