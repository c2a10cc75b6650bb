import { isFieldName, isNamed, putHead, ROOM } from '../wire/head-syntax.js';

/** A request to be sent. */
export interface RequestParts {
  readonly path: string;
  readonly method: string;
  /**
   * Name, value, name, value. `host`, `content-length` and other fields of one connection are set by the encoder alone.
   */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const METHOD = /^[A-Z]{1,16}$/;
const PATH = /^\/[\x21-\x7e\x80-\xff]*$/;

/** Writes requests to one replica into a buffer that all its connections share. */
export class RequestEncoder {
  /** Messages are written into it again and again, so that a head and its body go out in one write. */
  bytes = Buffer.allocUnsafeSlow(ROOM);
  readonly #host: string;
  /** The first lines of the last request; those of the next are most often the same. */
  #method = '';
  #path = '';
  #start = '';

  constructor(host: string) {
    this.#host = host;
  }

  /** The length of the head, which is in `bytes` then; -1 for a request that cannot be sent. */
  head({ path, method, headers, body }: RequestParts): number {
    if ((path !== this.#path || method !== this.#method) && !this.#begin(method, path)) return -1;
    let head = this.#start;
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!;
      if (!isFieldName(name) || isSetHere(name)) return -1;
      head += `${name}: ${headers[i + 1]!}\r\n`;
    }
    const hasLength = body.length > 0 || method !== 'GET';
    head += hasLength ? `content-length: ${body.length}\r\n\r\n` : '\r\n';
    if (head.length > ROOM) return -1;
    return putHead(this.bytes, head, 3 + (headers.length >> 1) + (hasLength ? 1 : 0));
  }

  /** Appends the body to the head; false when it does not fit. */
  body(at: number, body: Buffer): boolean {
    if (at + body.length > ROOM) return false;
    body.copy(this.bytes, at);
    return true;
  }

  /** What was written last is not sent yet: the next message goes elsewhere. */
  renew(): void {
    this.bytes = Buffer.allocUnsafeSlow(ROOM);
  }

  #begin(method: string, path: string): boolean {
    if (!METHOD.test(method) || !PATH.test(path)) return false;
    this.#method = method;
    this.#path = path;
    this.#start = `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n`;
    return true;
  }
}

/** Whether a field is about framing or the connection. */
function isSetHere(name: string): boolean {
  switch (name.length) {
    case 2:
      return isNamed(name, 'te');
    case 4:
      return isNamed(name, 'host');
    case 6:
      return isNamed(name, 'expect');
    case 7:
      return isNamed(name, 'upgrade') || isNamed(name, 'trailer');
    case 10:
      return isNamed(name, 'connection') || isNamed(name, 'keep-alive');
    case 14:
      return isNamed(name, 'content-length');
    case 17:
      return isNamed(name, 'transfer-encoding');
    default:
      return false;
  }
}
