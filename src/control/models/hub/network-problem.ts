const PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up',
  ENETUNREACH: 'there is no way to it',
  EHOSTUNREACH: 'there is no way to it',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  UND_ERR_CONNECT_TIMEOUT: 'does not accept the connection',
  UND_ERR_HEADERS_TIMEOUT: 'does not answer',
  UND_ERR_BODY_TIMEOUT: 'stopped in the middle of an answer',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is not as long as it says',
};

/** Why no response came, in words. Messages of libraries are not repeated: they may hold whole addresses. */
export function networkProblem(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'string')
    return PROBLEMS[code] ?? (isCertificate(code) ? `its certificate is refused (${code})` : code);
  return typeof cause === 'object' && cause !== null ? networkProblem(cause) : 'the connection failed';
}

function isCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO|TLS/.test(code);
}
