import { connect, isIP, type OnReadOpts, Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { guardedLookup, refusedAddress, restrictedHost } from '../../protocol/http-client/address-rules.js';
import { MOST_READ } from '../wire/chunked-body.js';

/** The size of a TLS record. */
const MOST_SECURE_READ = 16_384;
const KEEP_ALIVE_PROBE_MS = 60_000;

/**
 * All plain connections read into one buffer: its content is used or copied before the next read. Otherwise every read
 * allocates a buffer that is mostly far too large.
 */
const shared = Buffer.allocUnsafeSlow(MOST_READ);

/** Certificates and key as PEM. */
export interface UpstreamTls {
  /** To trust instead of the default ones. */
  ca?: string | Buffer;
  /** Presented to the replica, with its key. */
  cert?: string | Buffer;
  key?: string | Buffer;
}

/** The address of a replica. */
export class Origin {
  readonly isSecure: boolean;
  /** The `host` of requests. */
  readonly authority: string;
  readonly #host: string;
  readonly #port: number;
  readonly #tls: UpstreamTls;
  /** The TLS session to resume on the next connection. */
  #session: Buffer | undefined;

  /** Why a literal address is refused. */
  readonly #refusal: string | null;
  readonly #isGuarded: boolean;

  /** @param isGuarded refuses addresses of this machine, its network segment and metadata services */
  constructor(url: string, tls: UpstreamTls = {}, isGuarded = false) {
    const { host, hostname, port, protocol } = new URL(url);
    this.isSecure = protocol === 'https:';
    this.authority = host;
    this.#host = hostname.replace(/^\[|\]$/g, '');
    this.#port = port === '' ? (this.isSecure ? 443 : 80) : Number(port);
    this.#tls = tls;
    this.#isGuarded = isGuarded;
    this.#refusal = isGuarded ? restrictedHost(hostname) : null;
  }

  /** @param read called with the number of bytes read and their buffer, valid until it returns; false pauses reading */
  open(read: OnReadOpts['callback'], opened: () => void): Socket {
    if (this.#refusal !== null) return refused(refusedAddress(this.#host, this.#refusal));
    const options = {
      ...(this.#isGuarded ? { lookup: guardedLookup } : {}),
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
      ca: this.#tls.ca,
      cert: this.#tls.cert,
      key: this.#tls.key,
      session: this.#session,
    };
    return connectSecurely(secure, opened).on('session', (session: Buffer) => {
      this.#session = session;
    });
  }
}

/** A connection that fails as one would that cannot be opened. */
function refused(error: Error): Socket {
  const socket = new Socket();
  process.nextTick(() => socket.destroy(error));
  return socket;
}
