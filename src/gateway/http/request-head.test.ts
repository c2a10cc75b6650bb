import { describe, expect, it } from 'vitest';
import { framingContract } from '../wire/framing.contract.js';
import { NOT_GIVEN } from '../wire/message-framing.js';
import { checkTrailers, RequestHead } from './request-head.js';

const HOST = ['Host', 'h'];

function framed(headers: string[], minor = 1, head = new RequestHead(1000)): RequestHead {
  head.headers = headers;
  head.minor = minor;
  head.frame();
  return head;
}

const shared = new RequestHead(1000);
framingContract((fields, minor) => {
  framed([...HOST, ...fields], minor, shared);
  const isGiven = fields.some((field) => /^(content-length|transfer-encoding)$/i.test(field));
  return { length: isGiven ? shared.length : NOT_GIVEN, keepsAlive: shared.keepsAlive };
});

describe('the framing of a RequestHead', () => {
  it('has no body when no field gives a length', () => {
    expect([framed(HOST).length, framed([], 0).length]).toEqual([0, 0]);
  });

  it.each<[string[], number, string]>([
    [[], 1, 'no host'],
    [[...HOST, 'HOST', 'h'], 1, 'more than one host'],
    [['host', 'a', 'host', 'b'], 0, 'more than one host'],
    [[...HOST, 'Transfer_Encoding', 'chunked'], 1, 'could be read as transfer-encoding'],
    [[...HOST, 'Content_Length', '5'], 1, 'could be read as content-length'],
    [[...HOST, 'content-length', 'x'], 1, 'an invalid content-length'],
  ])('refuses %j of HTTP/1.%i with status 400', (headers, minor, problem) => {
    expect(() => framed(headers, minor)).toThrowError(
      expect.objectContaining({ status: 400, message: expect.stringContaining(problem) }),
    );
  });

  it.each<[string[], number, boolean]>([
    [['upgrade', 'h2c'], 1, false],
    [['upgrade', 'h2c', 'content-length', '0'], 1, false],
    [['upgrade', 'h2c', 'content-length', '5'], 1, true],
    [['upgrade', 'h2c', 'transfer-encoding', 'chunked'], 1, true],
  ])('with %j of HTTP/1.%i keeps the connection: %s', (headers, minor, keeps) => {
    expect(framed([...HOST, ...headers], minor).keepsAlive).toBe(keeps);
  });

  it('has the value of expect, in HTTP/1.1 only', () => {
    const headers = [...HOST, 'Expect', '100-continue'];
    expect([framed(headers).expects, framed(headers, 0).expects, framed(HOST).expects]).toEqual([
      '100-continue',
      null,
      null,
    ]);
  });

  it('keeps nothing of one request for the next', () => {
    const head = framed([...HOST, 'expect', 'x', 'content-length', '5', 'connection', 'close']);
    framed(HOST, 1, head);
    expect([head.length, head.keepsAlive, head.expects]).toEqual([0, true, null]);
  });
});

describe('checkTrailers', () => {
  it('refuses framing fields', () => {
    expect(() => checkTrailers(['x-sum', '1', 'host', 'h'])).not.toThrow();
    for (const name of ['Content-Length', 'transfer-encoding']) {
      expect(() => checkTrailers(['x', 'y', name, '3'])).toThrowError(expect.objectContaining({ status: 400 }));
    }
  });
});
