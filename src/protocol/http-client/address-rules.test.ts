import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns';
import { describe, expect, it, vi } from 'vitest';
import { guardedLookup, restrictedAddress, restrictedHost } from './address-rules.js';

vi.mock('node:dns', async (original) => ({ ...(await original<object>()), lookup: vi.fn() }));

const hostOf = (url: string) => new URL(url).hostname;

describe('addresses that only an admin may allow', () => {
  it.each([
    ...['http://127.0.0.1', 'http://127.1', 'http://2130706433', 'http://0x7f.0.0.1', 'http://0177.0.0.1', 'http://0'],
    ...['http://0.0.0.0', 'http://[::]', 'http://[::1]', 'http://[0:0:0:0:0:0:0:1]', 'http://[::ffff:127.0.0.1]'],
    ...['http://[::ffff:7f00:1]', 'http://[::127.0.0.1]', 'http://[::ffff:0:127.0.0.1]', 'http://[64:ff9b::7f00:1]'],
    ...[
      'http://[64:ff9b::169.254.169.254]',
      'http://[2002:7f00:1::]',
      'http://[2002:a9fe:a9fe::1]',
      'http://169.254.0.9',
    ],
    ...[
      'http://169.254.169.254',
      'http://[fe80::1]',
      'http://[fd00:ec2::254]',
      'http://100.100.100.200',
      'http://168.63.129.16',
    ],
    ...['http://224.0.0.1', 'http://[ff02::1]', 'http://255.255.255.255', 'http://localhost', 'http://LOCALHOST.'],
    ...['http://a.localhost', 'http://1２7.0.0.1'],
  ])('%s', (url) => {
    expect(restrictedHost(hostOf(url))).toEqual(expect.any(String));
  });

  it.each([
    ...['http://10.0.0.1', 'http://192.168.1.1', 'http://172.16.0.1', 'http://100.64.0.1', 'http://8.8.8.8'],
    ...['http://[fd12::1]', 'http://[2001:db8::1]', 'http://[::ffff:8.8.8.8]', 'http://[64:ff9b::8.8.8.8]'],
    ...['http://example.com', 'http://localhost.example.com', 'http://notlocalhost'],
  ])('not %s', (url) => {
    expect(restrictedHost(hostOf(url))).toBeNull();
  });

  it('include addresses with a zone', () => {
    expect(restrictedAddress('fe80::1%eth0')).toBe('a link-local address');
  });
});

describe('a look-up for a connection', () => {
  function looked(addresses: LookupAddress[], all: boolean): unknown[] {
    vi.mocked(lookup).mockImplementation(((_: string, __: object, done: (...given: unknown[]) => void) =>
      done(null, addresses)) as unknown as typeof lookup);
    let given: unknown[] = [];
    guardedLookup('name.example', { all }, (...args: unknown[]) => {
      given = args;
    });
    return given;
  }
  const open = { address: '8.8.8.8', family: 4 };

  it.each([true, false])('returns the addresses that were checked, all of them: %s', (all) => {
    expect(looked([open], all)).toEqual(all ? [null, [open]] : [null, '8.8.8.8', 4]);
  });

  it.each(['127.0.0.1', '::1', '::ffff:10.0.0.1', '::ffff:169.254.169.254', '0.0.0.0'])('of %s', (address) => {
    const [error] = looked([open, { address, family: address.includes(':') ? 6 : 4 }], true);
    const isOpen = address === '::ffff:10.0.0.1';
    expect((error as { code?: string } | null)?.code).toBe(isOpen ? undefined : 'ADDRESS_REFUSED');
  });
});
