/**
 * Stable names of problems with a response. With the first ones there is no response; with `no_usage` and
 * `other_tokens` it is complete, but of another or an unknown length. HTTP statuses are `http_<status>`.
 */
export type ProblemClass =
  | 'refused'
  | 'hang'
  | 'timeout'
  | 'cut'
  | 'malformed'
  | 'server_error'
  | 'interrupted'
  | `http_${number}`
  | 'no_usage'
  | 'other_tokens';

export interface ResponseProblem {
  class: ProblemClass;
  message: string;
}

const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** What an error of the connection means. @param hasBegun whether the server had taken the request */
export function connectionProblem(error: Error & { code?: string }, hasBegun: boolean): ResponseProblem {
  const code = error.code ?? '';
  const reason = code === '' ? error.message || error.name : code;
  if (!hasBegun && (NOT_CONNECTED.has(code) || code.startsWith('ERR_TLS') || /CERT|SSL/.test(code))) {
    return { class: 'refused', message: `no connection (${reason})` };
  }
  if (error.name === 'HTTPParserError')
    return { class: 'malformed', message: `the response is not valid HTTP (${reason})` };
  return { class: 'cut', message: `the connection was closed (${reason})` };
}

/** The problem of an unsuccessful status, with the server's message. */
export function failedStatus(status: number, body: string): ResponseProblem {
  return { class: `http_${status}`, message: `status ${status}${spoken(body)}` };
}

/** The message of an error in a usual shape, or the beginning of the body. */
function spoken(body: string): string {
  let text = body;
  try {
    const { detail, error, message } = JSON.parse(body) as Record<string, unknown>;
    const inner = (error as { message?: unknown } | null)?.message ?? error ?? message ?? detail;
    if (typeof inner === 'string') text = inner;
  } catch {
    // Not JSON: as it is.
  }
  const line = text.replace(/\s+/g, ' ').trim();
  return line === '' ? '' : `: ${line.length > 200 ? `${line.slice(0, 197)}...` : line}`;
}
