/** Headers that belong to one connection and not to the message; both directions. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What the gateway sets itself on the way to a replica. */
const REPLACED_UPSTREAM = new Set([...HOP_BY_HOP, 'host', 'content-length', 'expect', 'x-request-id', 'authorization']);

const REPLACED_DOWNSTREAM = new Set([...HOP_BY_HOP, 'x-request-id', 'x-twinyard-replica', 'x-twinyard-decision']);

/**
 * The client's headers as a replica gets them, flat: name, value, name, value. The client's key is for the gateway, not for
 * replicas, so it stays here.
 */
export function upstreamHeaders(rawHeaders: readonly string[], requestId: string): string[] {
  const named = connectionHeaders(rawHeaders);
  const headers: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const lower = name.toLowerCase();
    if (REPLACED_UPSTREAM.has(lower) || named?.has(lower)) continue;
    headers.push(name, rawHeaders[i + 1]!);
  }
  headers.push('x-request-id', requestId);
  return headers;
}

/** The replica's headers as the client gets them. */
export function downstreamHeaders(raw: readonly Buffer[]): string[] {
  const headers: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toString('latin1');
    if (!REPLACED_DOWNSTREAM.has(name.toLowerCase())) headers.push(name, raw[i + 1]!.toString('latin1'));
  }
  return headers;
}

/** `connection: x-thing` makes x-thing one of its own kind. */
function connectionHeaders(rawHeaders: readonly string[]): Set<string> | null {
  let named: Set<string> | null = null;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    for (const part of rawHeaders[i + 1]!.split(',')) {
      const one = part.trim().toLowerCase();
      if (one === 'keep-alive' || one === 'close' || one === '') continue;
      named ??= new Set();
      named.add(one);
    }
  }
  return named;
}
