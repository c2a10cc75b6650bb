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
  let named: Set<string> | null = null;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toString('latin1');
    const lower = name.toLowerCase();
    if (lower === 'connection') {
      if (!isPlain(raw[i + 1]!)) named = addNamed(named, raw[i + 1]!.toString('latin1'));
    } else if (!REPLACED_DOWNSTREAM.has(lower)) headers.push(name, raw[i + 1]!.toString('latin1'));
  }
  return named === null ? headers : without(headers, named);
}

/** `keep-alive` and `close` name no header; replicas send them with every answer, so they are told apart without a copy. */
function isPlain(connection: Buffer): boolean {
  const first = connection[0]! | 0x20;
  return (connection.length === 10 && first === 0x6b) || (connection.length === 5 && first === 0x63);
}

const ILLEGAL = /[^\x20-\x7e]/g;
const MOST_CHARACTERS = 200;

/** A text of ours that may stand in any header, whatever it says. */
export function legalHeader(text: string): string {
  return text.slice(0, MOST_CHARACTERS).replace(ILLEGAL, '?');
}

/** `connection: x-thing` makes x-thing one of its own kind. */
function connectionHeaders(rawHeaders: readonly string[]): Set<string> | null {
  let named: Set<string> | null = null;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    named = addNamed(named, rawHeaders[i + 1]!);
  }
  return named;
}

function addNamed(before: Set<string> | null, value: string): Set<string> | null {
  let named = before;
  for (const part of value.split(',')) {
    const one = part.trim().toLowerCase();
    if (one === 'keep-alive' || one === 'close' || one === '') continue;
    named ??= new Set();
    named.add(one);
  }
  return named;
}

function without(headers: readonly string[], named: ReadonlySet<string>): string[] {
  return headers.filter((_, i) => !named.has(headers[i - (i % 2)]!.toLowerCase()));
}

const EVENT_STREAM = 'text/event-stream';

/** Whether headers, flat, announce a stream of events. */
export function isEventStream(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.length === 12 && headers[i]!.toLowerCase() === 'content-type') {
      return headers[i + 1]!.startsWith(EVENT_STREAM);
    }
  }
  return false;
}
