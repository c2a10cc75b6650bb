import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError, type ErrorKind, errorBody } from '../../protocol/errors.js';

const KINDS: Readonly<Record<string, [ErrorKind, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request line and its headers are larger than this gateway takes.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not come in time.'],
};

/**
 * Answers somebody whose request is no HTTP, in the shape of all errors, and closes the connection. The status it answered
 * with; null when there was nobody to answer, or an answer to an earlier request is under way, which must not be spoilt.
 */
export function answerBroken(
  error: NodeJS.ErrnoException,
  socket: Duplex & { _httpMessage?: ServerResponse },
): number | null {
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent) {
    socket.destroy();
    return null;
  }
  const [kind, message] = KINDS[error.code ?? ''] ?? ['malformed', `The request is not valid HTTP: ${error.message}`];
  const answer = new ApiError(kind, message);
  const body = JSON.stringify(errorBody(answer));
  const head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`);
  (socket as Socket).destroySoon();
  return answer.status;
}
