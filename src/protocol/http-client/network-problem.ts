import { REFUSED_ADDRESS } from './address-rules.js';

const PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'host cannot be looked up',
  ENETUNREACH: 'network unreachable',
  EHOSTUNREACH: 'host unreachable',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  UND_ERR_SOCKET: 'connection reset',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no response',
  UND_ERR_BODY_TIMEOUT: 'response stalled',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'response shorter than its content-length',
};

/** Why a request failed. Messages of libraries are not repeated: they may contain whole URLs. */
export function networkProblem(error: unknown): string {
  const { code, cause, message } = error as { code?: unknown; cause?: unknown; message: string };
  if (code === REFUSED_ADDRESS) return message;
  if (typeof code === 'string')
    return PROBLEMS[code] ?? (isCertificate(code) ? `certificate not accepted (${code})` : code);
  return typeof cause === 'object' && cause !== null ? networkProblem(cause) : 'connection failed';
}

function isCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO|TLS/.test(code);
}
