import type { ApiError } from '../../protocol/errors.js';
import { bodyTooLarge, encodingUnknown } from '../errors.js';
import { isNamed } from '../wire/head-syntax.js';

/** What a request needs of its connection. */
export interface RequestCarrier {
  readonly address: string;
  /** A handler collects a body that is not complete. */
  bodyWanted(request: HttpRequest): void;
}

/** The head of a request. */
export interface RequestStart {
  readonly method: string;
  readonly target: string;
  readonly headers: string[];
  readonly minor: number;
}

/** Receives a body once: all of it, or null when it exceeds the limit or was refused. */
export type BodyListener = (body: Buffer | null, refusal: ApiError | null) => void;

/** Looks at a body that comes in pieces while it arrives. Returns why it is refused, null to go on. */
export type BodyWatch = (bytes: Buffer, length: number) => ApiError | null;

const NOTHING = Buffer.alloc(0);
/** The first buffer of a body that comes in pieces. */
const LEAST_ROOM = 64 * 1024;

/** A request whose head is read; its body may be incomplete. */
export class HttpRequest {
  readonly method: string;
  /** As it was sent. */
  readonly url: string;
  /** Name, value, name, value. */
  readonly rawHeaders: string[];
  /** 0 for HTTP/1.0. */
  readonly minor: number;
  /** Its content-length; -1 when it is chunked. */
  readonly length: number;
  /** Its body is complete. */
  isComplete = false;
  /** The client waits for 100 Continue before it sends the body. */
  isExpecting = false;
  readonly #carrier: RequestCarrier;
  #limit = 0;
  #done: BodyListener | null = null;
  #watch: BodyWatch | null = null;
  /** The body: its first bytes, while it arrives in pieces. */
  #body: Buffer | null = null;
  #bytes = 0;
  #client: string | null = null;
  #chain: string | null = null;

  constructor({ headers, method, minor, target }: RequestStart, length: number, carrier: RequestCarrier) {
    this.method = method;
    this.url = target;
    this.rawHeaders = headers;
    this.minor = minor;
    this.length = length;
    this.#carrier = carrier;
  }

  /** The client's address. */
  get address(): string {
    return this.#client ?? this.#carrier.address;
  }

  /** The addresses it came through, the client's first. */
  get forwardedFor(): string {
    return this.#chain ?? this.#carrier.address;
  }

  /** A trusted proxy sent it. */
  get isForwarded(): boolean {
    return this.#chain !== null;
  }

  /** A trusted proxy sent it, for this client. */
  forwarded(client: string, chain: string): void {
    this.#client = client;
    this.#chain = chain;
  }

  /** The value of a header, its name in lower case; the first, if there are several. */
  header(lower: string): string | undefined {
    const { rawHeaders } = this;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i]!;
      if (name.length === lower.length && isNamed(name, lower)) return rawHeaders[i + 1];
    }
    return undefined;
  }

  /** The values of a header, its name in lower case, as one list; empty without it. */
  allOf(lower: string): string {
    const { rawHeaders } = this;
    return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === lower).join(', ');
  }

  /** A handler collects the body and has not received it. */
  get isWanted(): boolean {
    return this.#done !== null;
  }

  /**
   * Collects the body and calls `done` once, synchronously if it is complete; never when the client disconnects first.
   */
  collect(limit: number, done: BodyListener, watch: BodyWatch | null = null): void {
    this.#limit = limit;
    this.#done = done;
    this.#watch = watch;
    if (this.isComplete) this.#finish();
    else this.#carrier.bodyWanted(this);
  }

  // Called by its connection.

  add(piece: Buffer): void {
    const before = this.#bytes;
    this.#bytes += piece.length;
    if (this.#bytes > this.#limit) {
      this.#tell(null, null);
      return;
    }
    const body = this.#room(before);
    piece.copy(body, before);
    const refusal = this.#watch === null ? null : this.#watch(body, this.#bytes);
    if (refusal !== null) this.#tell(null, refusal);
  }

  /** @param whole the body, if it came in one piece */
  complete(whole: Buffer | null): void {
    this.isComplete = true;
    if (whole !== null) {
      this.#body = whole;
      this.#bytes = whole.length;
    } else if (this.#done !== null) this.#finish();
  }

  /** The buffer of the body, with room for all that has arrived. What is announced and does not arrive takes none. */
  #room(used: number): Buffer {
    const { length } = this;
    const bytes = this.#bytes;
    const body = this.#body;
    if (body !== null && bytes <= body.length) return body;
    const size = length < 0 ? Math.max(bytes * 2, LEAST_ROOM) : Math.min(length, Math.max(bytes * 8, LEAST_ROOM));
    const larger = Buffer.allocUnsafeSlow(Math.min(size, this.#limit));
    body?.copy(larger, 0, 0, used);
    this.#body = larger;
    return larger;
  }

  #finish(): void {
    if (this.#bytes > this.#limit) this.#tell(null, null);
    else this.#tell(this.#body === null ? NOTHING : this.#body.subarray(0, this.#bytes), null);
  }

  #tell(body: Buffer | null, refusal: ApiError | null): void {
    const done = this.#done!;
    this.#done = null;
    this.#watch = null;
    this.#body = null;
    done(body, refusal);
  }
}

/**
 * Collects a request body and calls `done` once; with an error when it is too large, compressed or refused. Does not
 * call it when the client has disconnected.
 * @param watch looks at a body that comes in pieces
 */
export function readBody(
  request: HttpRequest,
  limit: number,
  done: (error: ApiError | null, body: Buffer) => void,
  watch: BodyWatch | null = null,
): void {
  const encoding = request.header('content-encoding');
  if (encoding !== undefined && encoding !== 'identity') {
    done(encodingUnknown(encoding), NOTHING);
    return;
  }
  if (request.length > limit) {
    done(bodyTooLarge(limit), NOTHING);
    return;
  }
  request.collect(
    limit,
    (body, refusal) => {
      if (body === null) done(refusal ?? bodyTooLarge(limit), NOTHING);
      else done(null, body);
    },
    watch,
  );
}
