import type { KeyRole } from '../../store/keys/key-record.js';

/** A part of the admin API that somebody else answers: `gateway.extension`. It is asked before the gateway's own routes. */
export interface AdminExtension {
  /** Whether a path is its own. */
  handles(path: string): boolean;
  /**
   * What somebody gets. Whoever asks is known, what he may do is for the extension to say. An ApiError that it throws is told;
   * anything else is a bug.
   */
  handle(call: ExtensionCall): Promise<ExtensionResponse>;
}

/** Who asks. */
export interface AdminCaller {
  /** Of the key, or `admin` for the token. */
  readonly name: string;
  /** What he may do everywhere. */
  readonly role: KeyRole;
  /** The public id of the key; null for the token. */
  readonly keyId: string | null;
}

export interface ExtensionCall {
  readonly caller: AdminCaller;
  readonly method: string;
  /** Without the query, still encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The value of a header, its name in lower case. */
  header(name: string): string | undefined;
  /** Reads the body, once; an ApiError when it is too large. */
  body(): Promise<string>;
  /** The client has left, or the gateway stops. */
  readonly signal: AbortSignal;
}

/** Headers are flat: name, value, name, value. */
export type ExtensionResponse =
  | {
      readonly status: number;
      /** Sent as JSON; a text with a type of its own as it is. */
      readonly body: unknown;
      readonly type?: string;
      readonly headers?: readonly string[];
    }
  | {
      readonly status: number;
      /** Sent piece by piece, no faster than the client reads; it is not asked for more once `signal` is aborted. */
      readonly stream: AsyncIterable<string>;
      /** `text/event-stream` unless given. */
      readonly type?: string;
      readonly headers?: readonly string[];
    };
