import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Addresses that stand for this machine, its network segment, or a cloud's metadata service. */
const RANGES: readonly [what: string, network: string, bits: number][] = [
  ['a metadata address', '169.254.169.254', 32],
  ['a metadata address', '169.254.170.2', 32],
  ['a metadata address', '100.100.100.200', 32],
  ['a metadata address', '168.63.129.16', 32],
  ['a metadata address', '192.0.0.192', 32],
  ['a metadata address', 'fd00:ec2::', 32],
  ['a metadata address', 'fd20:ce::', 32],
  ['a loopback address', '127.0.0.0', 8],
  ['a loopback address', '::1', 128],
  ['an address of this machine', '0.0.0.0', 8],
  ['an address of this machine', '::', 128],
  ['a link-local address', '169.254.0.0', 16],
  ['a link-local address', 'fe80::', 10],
  ['a multicast address', '224.0.0.0', 4],
  ['a multicast address', 'ff00::', 8],
  ['a reserved address', '240.0.0.0', 4],
];

const lists = RANGES.map(([what, network, bits]) => {
  const list = new BlockList();
  list.addSubnet(network, bits, familyOf(network));
  return { what, list };
});

/** IPv6 networks whose addresses contain one of IPv4, and where: mapped, compatible, translated (NAT64) and 6to4. */
const CARRIERS: readonly [prefix: string, bits: number, offset: number][] = [
  ['::ffff:0:0', 96, 12],
  ['::ffff:0:0:0', 96, 12],
  ['::', 96, 12],
  ['64:ff9b::', 96, 12],
  ['64:ff9b:1::', 48, 12],
  ['2002::', 16, 2],
];
const carriers = CARRIERS.map(([prefix, bits, offset]) => {
  const list = new BlockList();
  list.addSubnet(prefix, bits, 'ipv6');
  return { list, offset };
});

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** What an IP address is that resources of operators may not reach: 'a loopback address'; null for others. */
export function restrictedAddress(given: string): string | null {
  const address = given.replace(/%.*$/, '');
  const family = familyOf(address);
  const found = lists.find(({ list }) => list.check(address, family));
  if (found !== undefined) return found.what;
  if (family === 'ipv4') return null;
  for (const { list, offset } of carriers) {
    if (!list.check(address, 'ipv6')) continue;
    const what = restrictedAddress(
      bytesOf(address)
        .slice(offset, offset + 4)
        .join('.'),
    );
    if (what !== null) return what;
  }
  return null;
}

/** The 16 bytes of an IPv6 address. */
function bytesOf(address: string): number[] {
  // A URL writes an address with its dots as hexadecimal groups.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((one) => Number.parseInt(one, 16)));
  const first = groups(head);
  const last = tail === undefined ? [] : groups(tail);
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return all.flatMap((one) => [one >> 8, one & 255]);
}

/**
 * The same for the host of a URL, without looking it up. Decimal, octal and hexadecimal forms of an address are those of the URL
 * parser.
 */
export function restrictedHost(hostname: string): string | null {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host.replace(/%.*$/, '')) !== 0) return restrictedAddress(host);
  return /(?:^|\.)localhost\.?$/i.test(host) ? 'a loopback address' : null;
}

/** The error of a connection that was not opened. */
export const REFUSED_ADDRESS = 'ADDRESS_REFUSED';

export function refusedAddress(host: string, what: string): Error & { readonly code: string } {
  const problem = `${host} is ${what}, which only an admin may allow (local_addresses)`;
  return Object.assign(new Error(problem), { code: REFUSED_ADDRESS });
}

/**
 * Looks a name up for a connection, and refuses it if one of its addresses is restricted. The connection is made to the addresses that
 * were checked, so that a name which changes its address (DNS rebinding) is checked each time. Literal addresses are not looked
 * up: check them with `restrictedHost`.
 */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  const all: LookupOptions & { all: true } = { ...(options as LookupOptions), all: true };
  lookup(hostname, all, (error, addresses: LookupAddress[]) => {
    const bad =
      error === null ? addresses.map(({ address }) => restrictedAddress(address)).find((one) => one !== null) : null;
    const problem = error ?? (bad === undefined || bad === null ? null : refusedAddress(hostname, bad));
    const [first] = addresses ?? [];
    if (problem !== null || first === undefined) callback(problem, '', 4);
    else if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
