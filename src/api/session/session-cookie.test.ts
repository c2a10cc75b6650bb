import { describe, expect, it } from 'vitest';
import { cookieHeaders, isSameOrigin, sessionIdIn } from './session-cookie.js';

const ID = 'i'.repeat(43);
const headers = (given: Record<string, string>) => (name: string) => given[name];

describe('the cookie of a session', () => {
  it('cannot be read by scripts nor sent by other sites, and needs TLS where there is TLS', () => {
    const host = headers({ host: '127.0.0.1:8081' });
    expect(cookieHeaders(host, ID, false)).toEqual([
      'set-cookie',
      `twinyard_session_8081=${ID}; Path=/; HttpOnly; SameSite=Strict`,
    ]);
    expect(cookieHeaders(host, ID, true)[1]).toMatch(/; Secure$/);
    const proxied = headers({ host: 'console.example.com', 'x-forwarded-proto': 'https' });
    expect(cookieHeaders(proxied, ID, false)[1]).toBe(
      `twinyard_session=${ID}; Path=/; HttpOnly; SameSite=Strict; Secure`,
    );
    expect(cookieHeaders(host, null, false)[1]).toMatch(/^twinyard_session_8081=;.*; Max-Age=0$/);
  });

  it('is found among others, and gateways on other ports have their own', () => {
    const cookie = `a=b; twinyard_session_8081=${ID}; c`;
    expect(sessionIdIn(headers({ host: 'localhost:8081', cookie }))).toBe(ID);
    expect(sessionIdIn(headers({ host: 'localhost:9081', cookie }))).toBeNull();
    expect(sessionIdIn(headers({ host: 'localhost:8081', cookie: 'twinyard_session_8081=short' }))).toBeNull();
    expect(sessionIdIn(headers({ host: 'localhost:8081' }))).toBeNull();
  });
});

describe('the origin of a request', () => {
  const host = '127.0.0.1:8081';
  it.each([
    [{}, true],
    [{ origin: 'http://127.0.0.1:8081' }, true],
    [{ origin: 'http://127.0.0.1:8081', 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'none' }, true],
    [{ origin: 'http://127.0.0.1:3000' }, false],
    [{ origin: 'http://localhost:8081' }, false],
    [{ origin: 'https://evil.example' }, false],
    [{ origin: 'null' }, false],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
  ])('%j is the same: %s', (given, isSame) => {
    expect(isSameOrigin(headers({ host, ...given }))).toBe(isSame);
  });

  it('behind a proxy with TLS is that of the proxy', () => {
    const proxied = { host: 'console.example.com', origin: 'https://console.example.com' };
    expect(isSameOrigin(headers(proxied))).toBe(true);
    expect(isSameOrigin(headers({ ...proxied, origin: 'https://console.example.com:444' }))).toBe(false);
  });
});
