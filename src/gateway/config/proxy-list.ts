import { BlockList, isIP } from 'node:net';

/** Addresses and networks, as in 10.0.0.0/8. Throws a RangeError with the one that is neither. */
export function proxyList(entries: readonly string[]): BlockList {
  const proxies = new BlockList();
  for (const entry of entries) {
    const [address, bits, more] = entry.split('/');
    const version = isIP(address!);
    const prefix = bits === undefined ? (version === 4 ? 32 : 128) : Number(bits);
    const isPrefix = /^\d{1,3}$/.test(bits ?? '0') && prefix <= (version === 4 ? 32 : 128);
    if (version === 0 || more !== undefined || !isPrefix) throw new RangeError(entry);
    proxies.addSubnet(address!, prefix, version === 4 ? 'ipv4' : 'ipv6');
  }
  return proxies;
}
