import type { IncomingMessage } from 'node:http';
import type { ApiError } from '../../protocol/errors.js';
import { bodyTooLarge, encodingUnknown } from '../errors.js';

const NOTHING = Buffer.alloc(0);

/** Collects a request's body and calls `done` once; with an error when it is too large or packed. Not at all when the client left. */
export function readBody(
  request: IncomingMessage,
  limit: number,
  done: (error: ApiError | null, body: Buffer) => void,
): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    done(encodingUnknown(encoding), NOTHING);
    return;
  }
  if (announcedLength(request) > limit) {
    done(bodyTooLarge(limit), NOTHING);
    return;
  }
  let first: Buffer | null = null;
  let rest: Buffer[] | null = null;
  let length = 0;
  const onData = (chunk: Buffer) => {
    length += chunk.length;
    if (length > limit) {
      request.off('data', onData).off('end', onEnd);
      done(bodyTooLarge(limit), NOTHING);
    } else if (first === null) first = chunk;
    else if (rest === null) rest = [first, chunk];
    else rest.push(chunk);
  };
  const onEnd = () => done(null, rest === null ? (first ?? NOTHING) : Buffer.concat(rest, length));
  request.on('data', onData).on('end', onEnd);
}

/** How long a request says its body is; 0 when it does not say. */
export function announcedLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}
