import { connect, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { MOST_READ } from '../wire/chunked-body.js';

/** A record of TLS holds no more. */
const MOST_SECURE_READ = 16_384;
const KEEP_ALIVE_PROBE_MS = 60_000;

/**
 * All plain connections read into one buffer: what lies in it is used or copied before the next of them reads. Without it every
 * read has a buffer made for it that is most often far too large.
 */
const shared = Buffer.allocUnsafeSlow(MOST_READ);

/** Where a replica is. */
export class Origin {
  readonly isSecure: boolean;
  /** As requests name it. */
  readonly authority: string;
  readonly #host: string;
  readonly #port: number;
  readonly #ca: string | undefined;
  /** What lets the next secure connection begin with less work. */
  #session: Buffer | undefined;

  constructor(url: string, ca: string | undefined) {
    const { host, hostname, port, protocol } = new URL(url);
    this.isSecure = protocol === 'https:';
    this.authority = host;
    this.#host = hostname.replace(/^\[|\]$/g, '');
    this.#port = port === '' ? (this.isSecure ? 443 : 80) : Number(port);
    this.#ca = ca;
  }

  /** @param read is given how many bytes were read, and where they are until it returns; false stops reading */
  open(read: OnReadOpts['callback'], opened: () => void): Socket {
    const options = {
      host: this.#host,
      port: this.#port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    };
    if (!this.isSecure) return connect({ ...options, onread: { buffer: shared, callback: read } }, opened);
    const secure = {
      ...options,
      onread: { buffer: Buffer.allocUnsafeSlow(MOST_SECURE_READ), callback: read },
      ALPNProtocols: ['http/1.1'],
      servername: isIP(this.#host) === 0 ? this.#host : '',
      ca: this.#ca,
      session: this.#session,
    };
    return connectSecurely(secure, opened).on('session', (session: Buffer) => {
      this.#session = session;
    });
  }
}
