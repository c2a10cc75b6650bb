import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError, type ErrorKind, errorBody } from '../../protocol/errors.js';

const KINDS: Readonly<Record<string, [ErrorKind, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request line and its headers are larger than this gateway takes.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not come in time.'],
};

/** A connection, with the answer that is due on it and the request that is being read from it. */
type Connection = Duplex & {
  _httpMessage?: ServerResponse | null;
  parser?: { incoming: IncomingMessage | null } | null;
};

/**
 * Answers somebody whose request is no HTTP, in the shape of all errors, and closes the connection. The status it answered
 * with; null when there was nobody to answer, or an answer has been given or is under way, which must not be spoilt.
 */
export function answerBroken(error: NodeJS.ErrnoException, socket: Connection): number | null {
  const due = socket._httpMessage;
  // Who has said that no request will follow may say what he likes: his last answer still comes.
  if (error.code === 'HPE_CLOSED_CONNECTION' && due) return null;
  if (error.code === 'ECONNRESET' || !socket.writable || due?.headersSent || isAnswered(socket)) {
    socket.destroy();
    return null;
  }
  const [kind, message] = KINDS[error.code ?? ''] ?? ['malformed', `The request is not valid HTTP: ${error.message}`];
  return refuseConnection(socket, new ApiError(kind, message));
}

/** Answers with an error where there is no response to answer with, and closes the connection. */
export function refuseConnection(socket: Duplex, error: ApiError): number {
  const body = JSON.stringify(errorBody(error));
  const head = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`);
  (socket as Socket).destroySoon();
  return error.status;
}

/** Whether the request that breaks off has its answer already: it was refused while its body was still coming. */
function isAnswered({ _httpMessage: due, parser }: Connection): boolean {
  const request = parser?.incoming;
  return !due && request != null && !request.complete;
}
