import { describe, expect, it } from 'vitest';
import { CHUNKED, checkTrailers, RequestFraming } from './request-framing.js';

const HOST = ['Host', 'h'];

function framed(headers: string[], minor = 1): RequestFraming {
  const framing = new RequestFraming();
  framing.read({ headers, minor });
  return framing;
}

describe('RequestFraming', () => {
  it.each<[string[], number, number]>([
    [HOST, 1, 0],
    [[...HOST, 'Content-Length', '5', 'content-type', 'x', 'accept', '*/*'], 1, 5],
    [[...HOST, 'content-length', '007'], 1, 7],
    [[...HOST, 'Transfer-Encoding', 'Chunked'], 1, CHUNKED],
    [[...HOST, 'date', 'x', 'x-four-teen-xx', 'y', 'x-seventeen-xxxxx', 'z'], 1, 0],
    [[], 0, 0],
    [['content-length', '5'], 0, 5],
  ])('finds in %j of HTTP/1.%i a body of %i', (headers, minor, length) => {
    expect(framed(headers, minor).length).toBe(length);
  });

  it.each<[string[], number, string]>([
    [[], 1, 'no host'],
    [[...HOST, 'HOST', 'h'], 1, 'more than one host'],
    [['host', 'a', 'host', 'b'], 0, 'more than one host'],
    [[...HOST, 'Transfer-Encoding', 'chunked'], 0, 'HTTP/1.0 does not know'],
    [[...HOST, 'transfer-encoding', 'identity, chunked'], 1, 'other than chunked'],
    [[...HOST, 'transfer-encoding', ',chunked'], 1, 'other than chunked'],
    [[...HOST, 'transfer-encoding', ''], 1, 'other than chunked'],
    [[...HOST, 'transfer-encoding', 'identity', 'transfer-encoding', 'chunked'], 1, 'two encodings'],
    [[...HOST, 'transfer-encoding', 'chunked', 'content-length', '5'], 1, 'a length and an encoding'],
    [[...HOST, 'content-length', '5', 'content-length', '5'], 1, 'two lengths'],
    [[...HOST, 'content-length', ''], 1, 'a bad length'],
    [[...HOST, 'content-length', '-1'], 1, 'a bad length'],
    [[...HOST, 'content-length', '5, 5'], 1, 'a bad length'],
    [[...HOST, 'content-length', '1'.repeat(16)], 1, 'a bad length'],
    [[...HOST, 'Transfer_Encoding', 'chunked'], 1, 'could be taken for an encoding'],
    [[...HOST, 'Content_Length', '5'], 1, 'could be taken for a length'],
  ])('refuses %j of HTTP/1.%i', (headers, minor, problem) => {
    expect(() => framed(headers, minor)).toThrowError(
      expect.objectContaining({ status: 400, message: expect.stringContaining(problem) }),
    );
  });

  it.each<[string[], number, boolean]>([
    [[], 1, true],
    [[], 0, false],
    [['connection', 'keep-alive'], 0, true],
    [['Connection', 'Keep-Alive, x'], 0, true],
    [['connection', 'close'], 1, false],
    [['connection', 'x, Close'], 1, false],
    [['connection', 'keep-alive', 'connection', 'close'], 1, false],
    [['upgrade', 'h2c'], 1, false],
    [['upgrade', 'h2c', 'content-length', '0'], 1, false],
    [['upgrade', 'h2c', 'content-length', '5'], 1, true],
    [['upgrade', 'h2c', 'transfer-encoding', 'chunked'], 1, true],
  ])('with %j of HTTP/1.%i keeps the connection: %s', (headers, minor, keeps) => {
    expect(framed([...HOST, ...headers], minor).keepsAlive).toBe(keeps);
  });

  it('knows what is expected, of those who know that they may', () => {
    const headers = [...HOST, 'Expect', '100-continue'];
    expect([framed(headers).expects, framed(headers, 0).expects, framed(HOST).expects]).toEqual([
      '100-continue',
      null,
      null,
    ]);
  });

  it('forgets one request over the next', () => {
    const framing = new RequestFraming();
    framing.read({ headers: [...HOST, 'expect', 'x', 'content-length', '5', 'connection', 'close'], minor: 1 });
    framing.read({ headers: HOST, minor: 1 });
    expect([framing.length, framing.keepsAlive, framing.expects]).toEqual([0, true, null]);
  });
});

describe('checkTrailers', () => {
  it('refuses those that say where the body ended', () => {
    expect(() => checkTrailers(['x-sum', '1', 'host', 'h'])).not.toThrow();
    for (const name of ['Content-Length', 'transfer-encoding']) {
      expect(() => checkTrailers(['x', 'y', name, '3'])).toThrowError(expect.objectContaining({ status: 400 }));
    }
  });
});
