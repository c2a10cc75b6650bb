import type { ApiError } from '../../protocol/errors.js';
import { bodyTooLarge, encodingUnknown } from '../errors.js';
import type { HttpRequest } from '../http/http-request.js';

const NOTHING = Buffer.alloc(0);

/**
 * Collects a request body and calls `done` once; with an error when it is too large or compressed. Does not call it
 * when the client has disconnected.
 */
export function readBody(
  request: HttpRequest,
  limit: number,
  done: (error: ApiError | null, body: Buffer) => void,
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
  request.collect(limit, (body) => {
    if (body === null) done(bodyTooLarge(limit), NOTHING);
    else done(null, body);
  });
}
