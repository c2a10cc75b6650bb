import { describe, expect, it } from 'vitest';
import { HttpRequest, readBody } from './http-request.js';

const LIMIT = 100;

/** The result of a body that arrives in pieces, or complete with its head. */
function sent(pieces: readonly string[], headers: string[] = [], length = -1): string[] {
  const calls: string[] = [];
  const start = { method: 'POST', target: '/', minor: 1, headers };
  const request = new HttpRequest(start, length, { address: '', bodyWanted: () => calls.push('wanted') });
  readBody(request, LIMIT, (error, body) => calls.push(error === null ? `${body}` : `${error.status}`));
  for (const piece of pieces) if (request.isWanted) request.add(Buffer.from(piece));
  request.complete(null);
  return calls;
}

describe('readBody', () => {
  it.each([
    [[], ''],
    [['x'.repeat(100)], 'x'.repeat(100)],
    [['x'.repeat(50), 'y'.repeat(50)], `${'x'.repeat(50)}${'y'.repeat(50)}`],
    [['x'.repeat(50), 'y'.repeat(51)], '413'],
    [['x'.repeat(101)], '413'],
    [['a', 'b', 'c', 'd', 'e'], 'abcde'],
    [new Array(30).fill('0123456789'), '413'],
  ])('reads pieces up to the limit', (pieces, said) => {
    expect(sent(pieces)).toEqual(['wanted', said]);
  });

  it('refuses bodies by their announced length or encoding without reading them', () => {
    expect(sent(['x'], [], 101)).toEqual(['413']);
    expect(sent(['x'], ['Content-Encoding', 'gzip'])).toEqual(['400']);
    expect(sent(['x'], ['content-encoding', 'identity'])).toEqual(['wanted', 'x']);
  });

  it('returns a body that is complete at once', () => {
    const start = { method: 'POST', target: '/', minor: 1, headers: [] };
    const request = new HttpRequest(start, 5, { address: '', bodyWanted: () => expect.fail() });
    request.complete(Buffer.from('hello'));
    let got = '';
    readBody(request, 5, (_, body) => {
      got = body.toString();
    });
    expect(got).toBe('hello');
    request.complete(Buffer.from('hello'));
    request.collect(4, (body) => expect(body).toBeNull());
  });
});
