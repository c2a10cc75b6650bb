/**
 * The status of a GET on a new connection, which proves that the server still accepts connections; the body is
 * not read. Throws what undici throws, and when no response arrives within `timeoutMs`.
 */
export async function getStatus(url: string, timeoutMs: number): Promise<number> {
  // Loaded on first use: most commands make no request.
  const { request } = await import('undici');
  const { body, statusCode } = await request(url, { reset: true, signal: AbortSignal.timeout(timeoutMs) });
  body.on('error', () => {}).destroy();
  return statusCode;
}
