import { describe, expect, it } from 'vitest';
import type { HttpConfig } from '../config/gateway-config.js';
import { HttpRequest } from '../http/http-request.js';
import { Door } from './door.js';

const NONE: HttpConfig = { hosts: [], corsOrigins: [], trustedProxies: [], unknownPaths: 'refuse' };

const door = (config: Partial<HttpConfig> = {}, address = '127.0.0.1') => new Door({ ...NONE, ...config }, address);

function request(headers: string[], address = '192.0.2.1'): HttpRequest {
  const carrier = { address, bodyWanted: () => {} };
  return new HttpRequest({ method: 'GET', target: '/', headers, minor: 1 }, 0, carrier);
}

const isServed = (own: Door, host: string, origin?: string) =>
  own.refusal(request(['Host', host, ...(origin === undefined ? [] : ['Origin', origin])])) === null;

describe('the host of a request without a key', () => {
  it.each([
    'localhost',
    'localhost:8080',
    'LOCALHOST.',
    'a.localhost',
    '127.0.0.1:8080',
    '[::1]:8080',
    '10.1.2.3',
    'gateway',
  ])('is accepted as a name of this machine or an address: %s', (host) => {
    expect(isServed(door(), host)).toBe(true);
  });

  it.each(['evil.example', 'evil.example:8080', 'localhost.evil.example', '127.0.0.1.evil.example', 'printer.local'])(
    'is refused where its name may have been rebound to loopback: %s',
    (host) => {
      expect(door().refusal(request(['host', host]))).toMatchObject({
        status: 403,
        message: expect.stringMatching(/is not a known name of this gateway: add it to http.hosts/),
      });
    },
  );

  it('may be a local name where the port is not a loopback one, and never one of public DNS', () => {
    const own = door({}, '0.0.0.0');
    expect(
      ['a.local', 'gw.internal', 'gateway.serving.svc', 'evil.example'].map((host) => isServed(own, host)),
    ).toEqual([true, true, true, false]);
  });

  it('may be a configured name, or the one that the port listens on', () => {
    const own = door({ hosts: ['Gateway.example.com'] }, 'node.example.com');
    expect(['gateway.example.com:443', 'node.example.com', 'x.example.com'].map((host) => isServed(own, host))).toEqual(
      [true, true, false],
    );
  });

  it('may be absent, as in HTTP/1.0', () => {
    expect(door().refusal(request([]))).toBe(null);
  });
});

describe('the origin of a request without a key', () => {
  it.each([
    ['of this gateway', 'http://127.0.0.1:8080', true],
    ['of another page on loopback', 'http://localhost:3000', true],
    ['of a configured name', 'https://gateway.example.com', true],
    ['of a listed page', 'https://ui.example.com', true],
    ['of another port of that page', 'https://ui.example.com:8443', false],
    ['of another site', 'https://evil.example', false],
    ['of an address', 'http://203.0.113.7', false],
    ['that is hidden', 'null', false],
    ['of a file', 'file://', false],
  ])('%s: %s, served: %s', (_, origin, served) => {
    const own = door({ hosts: ['gateway.example.com'], corsOrigins: ['https://ui.example.com'] });
    expect(isServed(own, '127.0.0.1:8080', origin)).toBe(served);
  });

  it('is the same as the host with or without the usual port', () => {
    const own = door({}, '0.0.0.0');
    expect(isServed(own, '10.1.2.3', 'http://10.1.2.3')).toBe(true);
    expect(isServed(own, '10.1.2.3:80', 'http://10.1.2.3')).toBe(true);
    expect(isServed(own, '10.1.2.3:8080', 'http://10.1.2.3')).toBe(false);
  });

  it('may be any where all are listed', () => {
    expect(isServed(door({ corsOrigins: ['*'] }), 'localhost', 'https://any.example')).toBe(true);
  });
});

describe('x-forwarded-for', () => {
  const proxies = { trustedProxies: ['10.0.0.0/8', '192.0.2.9', 'fd00::/8'] };
  const identified = (address: string, ...chains: string[]) => {
    const one = request(
      chains.flatMap((chain) => ['X-Forwarded-For', chain]),
      address,
    );
    door(proxies).identify(one);
    return [one.address, one.forwardedFor];
  };

  it('is not believed from others', () => {
    expect(identified('198.51.100.1', '1.2.3.4')).toEqual(['198.51.100.1', '198.51.100.1']);
    const one = request(['x-forwarded-for', '1.2.3.4'], '10.0.0.1');
    door().identify(one);
    expect([one.address, one.isForwarded]).toEqual(['10.0.0.1', false]);
  });

  it('names the client where a trusted proxy sent it: the last address that is not one', () => {
    expect(identified('10.0.0.1', '1.2.3.4')).toEqual(['1.2.3.4', '1.2.3.4, 10.0.0.1']);
    expect(identified('::ffff:10.0.0.1', '1.2.3.4')[0]).toBe('1.2.3.4');
    expect(identified('fd00::1', '9.9.9.9, 1.2.3.4', '192.0.2.9')).toEqual([
      '1.2.3.4',
      '9.9.9.9, 1.2.3.4, 192.0.2.9, fd00::1',
    ]);
  });

  it('that is no address, or absent, leaves the proxy as the client', () => {
    expect(identified('10.0.0.1', '1.2.3.4, unknown')[0]).toBe('10.0.0.1');
    expect(identified('10.0.0.1')).toEqual(['10.0.0.1', '10.0.0.1']);
  });
});
