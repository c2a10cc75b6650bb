import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestEncoder, type RequestParts } from './request-encoder.js';

const encoder = new RequestEncoder('gpu:8000');
const NOTHING = Buffer.alloc(0);

function encoded(parts: Partial<RequestParts>): string | null {
  const length = encoder.head({ path: '/v1/x', method: 'POST', headers: [], body: NOTHING, ...parts });
  return length < 0 ? null : encoder.bytes.toString('latin1', 0, length);
}

describe('RequestEncoder', () => {
  it('writes heads with host and length of its own', () => {
    expect(encoded({ headers: ['Content-Type', 'a/b', 'x-ä'.slice(0, 2), ''], body: Buffer.from('äb') })).toBe(
      'POST /v1/x HTTP/1.1\r\nhost: gpu:8000\r\nContent-Type: a/b\r\nx-: \r\ncontent-length: 3\r\n\r\n',
    );
    expect(encoded({ method: 'GET', path: '/' })).toBe('GET / HTTP/1.1\r\nhost: gpu:8000\r\n\r\n');
    expect(encoded({ method: 'GET', body: Buffer.from('x') })).toContain('content-length: 1\r\n');
    expect(encoded({})).toContain('content-length: 0\r\n');
  });

  it('encodes again when only the method or only the path differs', () => {
    expect(encoded({ method: 'POST', path: '/a' })).toMatch(/^POST \/a HTTP/);
    expect(encoded({ method: 'PUT', path: '/a' })).toMatch(/^PUT \/a HTTP/);
    expect(encoded({ method: 'PUT', path: '/b' })).toMatch(/^PUT \/b HTTP/);
    expect(encoded({ method: 'PUT', path: '/b c' })).toBeNull();
    expect(encoded({ method: 'PUT', path: '/b' })).toMatch(/^PUT \/b HTTP/);
  });

  it('lets tabs and bytes above 127 pass in values', () => {
    expect(encoded({ headers: ['x', 'a\tb \xfc\xff'] })).toContain('x: a\tb \xfc\xff\r\n');
  });

  it.each([
    ['CR', { headers: ['x', 'a\rb'] }],
    ['LF', { headers: ['x', 'a\nb'] }],
    ['NUL', { headers: ['x', 'a\0b'] }],
    ['DEL', { headers: ['x', 'a\x7fb'] }],
    ['a header within a header', { headers: ['x', 'a\r\ny: b'] }],
    ['a request within a header', { headers: ['x', 'a\r\n\r\nGET / HTTP/1.1'] }],
    ['a wide character that ends up as LF', { headers: ['x', 'a\u010ab'] }],
    ['a wide character that ends up as CR', { headers: ['x', 'a\u560db'] }],
    ['a line end in a name', { headers: ['x\r\ny', 'b'] }],
    ['a space in a name', { headers: ['transfer-encoding ', 'chunked'] }],
    ['a colon in a name', { headers: ['transfer-encoding:chunked', 'x'] }],
    ['a wide character in a name', { headers: ['transfer\u012dencoding', 'chunked'] }],
    ['no name', { headers: ['', 'x'] }],
    ['a space in the path', { path: '/a HTTP/1.1' }],
    ['a line end in the path', { path: '/a\r\nx: y' }],
    ['a wide character in the path', { path: '/a\u0120b' }],
    ['no path', { path: '' }],
    ['another host', { path: 'http://elsewhere/' }],
    ['a method of two words', { method: 'GET /x' }],
    ['no method', { method: '' }],
    ['more than it has room for', { headers: ['x', 'y'.repeat(70_000)] }],
  ] satisfies [string, Partial<RequestParts>][])('refuses %s', (_, parts) => {
    expect(encoded(parts)).toBeNull();
  });

  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'Keep-Alive',
    'upgrade',
    'Trailer',
    'TE',
    'Expect',
  ])('refuses %s, which is not the caller’s to set', (name) => {
    expect(encoded({ headers: [name, 'x'] })).toBeNull();
    expect(encoded({ headers: [name.toUpperCase(), 'x'] })).toBeNull();
    expect(encoded({ headers: [`x${name}`, 'x'] })).not.toBeNull();
  });

  it('takes names of the same length and first letter', () => {
    const headers = ['user-agent', 'tx', 'home', 'accept', 'cookie', 'content-type-x', 'tracker', 'x-a', 'constraint'];
    expect(encoded({ headers: headers.flatMap((name) => [name, '1']) })).not.toBeNull();
  });

  it('never writes an injected line, whatever is in a header', () => {
    const wild = fc.string({
      unit: fc.constantFrom('\r', '\n', '\0', ':', ' ', '\t', 'a', 'é', '\u010a', '\u010d', '大'),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(wild, wild)), (fields) => {
        const text = encoded({ headers: fields.flat() });
        if (text !== null) expect(text.split(/[\r\n\0]+/).length).toBe(fields.length + 4);
      }),
      { numRuns: 2000 },
    );
  });

  it('adds bodies that fit, and keeps what is not sent yet', () => {
    const at = encoder.head({ path: '/', method: 'POST', headers: [], body: Buffer.from('hello') });
    expect(encoder.body(at, Buffer.from('hello'))).toBe(true);
    const { bytes } = encoder;
    encoder.renew();
    expect(encoder.head({ path: '/other', method: 'POST', headers: [], body: NOTHING })).toBeGreaterThan(0);
    expect(bytes.toString('latin1', at - 4, at + 5)).toBe('\r\n\r\nhello');
    expect(encoder.body(at, Buffer.alloc(70_000))).toBe(false);
  });
});
