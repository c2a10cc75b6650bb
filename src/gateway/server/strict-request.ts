import type { IncomingMessage } from 'node:http';

/** What of a request tells where it ends and whom it is for. */
type Head = Pick<IncomingMessage, 'httpVersionMajor' | 'httpVersionMinor' | 'rawHeaders'>;

const UNDERSCORE = 0x5f;

/**
 * What makes a request ambiguous that the parser lets pass: somebody in front of us or behind us might read another
 * request from the same bytes. Null for nearly all.
 */
export function ambiguity({ httpVersionMajor, httpVersionMinor, rawHeaders }: Head): string | null {
  if (httpVersionMajor !== 1) return 'it is neither HTTP/1.1 nor HTTP/1.0';
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    // Every request comes through here: names are told apart by their length, and compared only if they may be meant.
    if (name.length === 4) {
      if (isNamed(name, 'host') && ++hosts > 1) return 'it has more than one host';
    } else if (name.length === 14) {
      if (name.charCodeAt(7) === UNDERSCORE && isNamed(name, 'content_length')) {
        return 'content_length could be taken for content-length';
      }
    } else if (name.length === 17) {
      if (isNamed(name, 'transfer_encoding')) return 'transfer_encoding could be taken for transfer-encoding';
      if (!isNamed(name, 'transfer-encoding')) continue;
      if (httpVersionMinor === 0) return 'HTTP/1.0 has no transfer-encoding';
      if (rawHeaders[i + 1]!.toLowerCase() !== 'chunked') return 'only chunked is known as transfer-encoding';
    }
  }
  return hosts === 0 && httpVersionMinor > 0 ? 'it has no host' : null;
}

/** Without a copy where the first letters differ, or nothing does. */
function isNamed(name: string, lower: string): boolean {
  if (name === lower) return true;
  return (name.charCodeAt(0) | 0x20) === lower.charCodeAt(0) && name.toLowerCase() === lower;
}

/**
 * Whether it asks for another protocol and has no body. It is answered in this one, but the parser has stopped behind it:
 * what follows on the connection is lost, so there must not be a connection for it to follow on.
 */
export function endsConnection({ headers }: IncomingMessage): boolean {
  if (headers.upgrade === undefined || headers['transfer-encoding'] !== undefined) return false;
  return Number(headers['content-length'] ?? 0) === 0;
}
