import { NAME_BYTES, VALUE_BYTES } from '../http/field-bytes.js';
import { isNamed } from '../http/is-named.js';

/** A request as it is to be sent. */
export interface RequestParts {
  readonly path: string;
  readonly method: string;
  /** Name, value, name, value. `host`, `content-length` and what else belongs to one connection are the encoder's to set. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const ROOM = 65_536;
const METHOD = /^[A-Z]{1,16}$/;
const PATH = /^\/[\x21-\x7e\x80-\xff]*$/;

/**
 * Writes requests into one buffer that is used again and again. Nobody breaks out of a header: the bytes are counted as they go
 * out, and there is no control character among them but the line ends put there. That also catches text that is wider than a
 * byte, whose lower bytes are what goes out.
 */
export class RequestEncoder {
  bytes = Buffer.allocUnsafeSlow(ROOM);
  readonly #host: string;
  /** The first lines of the last request; those of the next are most often the same. */
  #method = '';
  #path = '';
  #start = '';

  constructor(host: string) {
    this.#host = host;
  }

  /** The length of the head, which is in `bytes` now; -1 for a request that cannot be sent. */
  head({ path, method, headers, body }: RequestParts): number {
    if ((path !== this.#path || method !== this.#method) && !this.#begin(method, path)) return -1;
    let head = this.#start;
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!;
      if (!isName(name) || isOurs(name)) return -1;
      head += `${name}: ${headers[i + 1]!}\r\n`;
    }
    const hasLength = body.length > 0 || method !== 'GET';
    head += hasLength ? `content-length: ${body.length}\r\n\r\n` : '\r\n';
    if (head.length > ROOM) return -1;
    const { bytes } = this;
    const length = bytes.write(head, 0, 'latin1');
    let values = 0;
    for (let i = 0; i < length; i++) values += VALUE_BYTES[bytes[i]!]!;
    const lines = 3 + (headers.length >> 1) + (hasLength ? 1 : 0);
    return length - values === 2 * lines ? length : -1;
  }

  /** Adds the body behind the head; false when there is no room for it. */
  body(at: number, body: Buffer): boolean {
    if (at + body.length > ROOM) return false;
    body.copy(this.bytes, at);
    return true;
  }

  /** What was written last is not out yet: the next request is written elsewhere. */
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

function isName(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    if (NAME_BYTES[name.charCodeAt(i)] !== 1) return false;
  }
  return name.length > 0;
}

/** Whether a header says how the message is framed or what becomes of the connection. */
function isOurs(name: string): boolean {
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
