/** The API of the admin port. The gateway serves the port; what is behind its paths is set with `gateway.api`. */
export interface AdminApi {
  /**
   * Responds to one call, authentication included. Rejects only with a bug, or with the ApiError of `call.body`: the port then
   * responds for it.
   */
  handle(call: AdminCall): Promise<AdminResponse>;
  /** Whose metrics a caller may read. */
  metricsFor(call: Pick<AdminCall, 'address' | 'header'>): Promise<SeenMetrics>;
  /** The gateway stops: long work is cancelled, and what must not remain is undone. */
  close?(): Promise<void>;
}

/** The response to a caller without a role, or the workspaces of those that it may read; undefined for the whole gateway. */
export type SeenMetrics =
  | { readonly refusal: AdminResponse }
  | { readonly refusal: null; readonly workspaces: readonly string[] | undefined };

export interface AdminCall {
  readonly method: string;
  /** Without the query, still encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The client's address. */
  readonly address: string;
  /** The value of a header, its name in lower case. */
  header(name: string): string | undefined;
  /** Reads the body, once; rejects with an ApiError when it has more bytes than `limit`. */
  body(limit: number): Promise<string>;
  /** Aborted when the client has left or the gateway stops. */
  readonly signal: AbortSignal;
}

/** Headers are flat: name, value, name, value. */
export type AdminResponse = WholeResponse | StreamedResponse;

export interface WholeResponse {
  readonly status: number;
  /** Sent as JSON; text with a `type` of its own, and a Buffer, are sent as they are. */
  readonly body: unknown;
  readonly type?: string;
  readonly headers?: readonly string[];
}

export interface StreamedResponse {
  readonly status: number;
  /** Sent piece by piece, no faster than the client reads; not read further once `signal` is aborted. */
  readonly stream: AsyncIterable<string>;
  /** `text/event-stream` unless given. */
  readonly type?: string;
  readonly headers?: readonly string[];
}

/** The body of every error on the admin port. Codes are stable. */
export interface AdminErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string };
}

export function adminError(status: number, code: string, message: string, hint = ''): WholeResponse {
  const body: AdminErrorBody = { error: { code, message, hint } };
  return { status, body };
}
