/** The one way to the server: the public API, with the cookie of the session and its CSRF token. */

/** What an error of the API holds, with the status. */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
    readonly problems: readonly { place: string; problem: string; hint: string }[] = [],
  ) {
    super(message);
  }

  /** Whether the server could not be reached at all. */
  get isLost(): boolean {
    return this.status === 0;
  }
}

let csrfToken = '';

export function setCsrfToken(token: string | null): void {
  csrfToken = token ?? '';
}

export interface CallOptions {
  readonly body?: unknown;
  /** Sent as it is, with this type. */
  readonly text?: { readonly content: string; readonly type: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A call of the API. Rejects with an ApiFailure. @param path after /api/v1/ */
export async function call<Result>(method: Method, path: string, options: CallOptions = {}): Promise<Result> {
  const response = await send(method, path, options);
  return (await response.json()) as Result;
}

export async function send(method: Method, path: string, options: CallOptions = {}): Promise<Response> {
  const { body, headers, signal, text } = options;
  const content = text?.content ?? (body === undefined ? undefined : JSON.stringify(body));
  const type = text?.type ?? (body === undefined ? undefined : 'application/json');
  let response: Response;
  try {
    response = await fetch(`/api/v1/${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(type === undefined ? {} : { 'content-type': type }),
        ...(method === 'GET' || csrfToken === '' ? {} : { 'x-csrf-token': csrfToken }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new ApiFailure(0, 'LOST', 'the gateway cannot be reached', 'check that it runs; this page tries again');
  }
  if (!response.ok) throw await failureOf(response);
  return response;
}

async function failureOf(response: Response): Promise<ApiFailure> {
  const { status } = response;
  try {
    const { error } = (await response.json()) as {
      error: {
        code: string;
        message: string;
        hint: string;
        problems?: { place: string; problem: string; hint: string }[];
      };
    };
    return new ApiFailure(status, error.code, error.message, error.hint, error.problems);
  } catch {
    return new ApiFailure(status, 'UNEXPECTED', `the gateway responded with status ${status}`, 'try again');
  }
}

/** A path with its query; parameters without a value are left out. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Segments of a path, each encoded. */
export const pathOf = (...segments: readonly string[]) => segments.map(encodeURIComponent).join('/');
