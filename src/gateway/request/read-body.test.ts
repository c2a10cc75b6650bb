import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBody } from './read-body.js';

const LIMIT = 100;
let server: Server;
let calls: string[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    readBody(request, LIMIT, (error, body) => {
      const said = error === null ? `${body.length}` : `${error.status}`;
      calls.push(said);
      response.end(said);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());

/** Sends a body in pieces, its length announced or not; what the server made of it. */
function sent(pieces: string[], headers: Record<string, string> = {}): Promise<string> {
  calls = [];
  return new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    const call = httpRequest({ port, host: '127.0.0.1', method: 'POST', headers }, (answer: IncomingMessage) => {
      let text = '';
      answer.on('data', (piece) => {
        text += piece;
      });
      answer.on('end', () => resolve(text));
    });
    call.on('error', reject);
    for (const piece of pieces) call.write(piece);
    call.end();
  });
}

describe('readBody', () => {
  it.each([
    [[], '0'],
    [['x'.repeat(100)], '100'],
    [['x'.repeat(50), 'y'.repeat(50)], '100'],
    [['x'.repeat(50), 'y'.repeat(51)], '413'],
    [['x'.repeat(101)], '413'],
    [['a', 'b', 'c', 'd', 'e'], '5'],
    [new Array(30).fill('0123456789'), '413'],
  ])('reads pieces up to the limit', async (pieces, said) => {
    expect(await sent(pieces)).toBe(said);
    expect(calls).toEqual([said]);
  });

  it('believes an announced length, and refuses bodies that are packed', async () => {
    expect(await sent(['x'.repeat(101)], { 'content-length': '101' })).toBe('413');
    expect(await sent(['x'], { 'content-encoding': 'gzip' })).toBe('400');
    expect(await sent(['x'], { 'content-encoding': 'identity' })).toBe('1');
  });
});
