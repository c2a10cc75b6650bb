import type { ApiError } from '../../protocol/errors.js';
import { upstreamBroke, upstreamTimeout } from '../errors.js';

export interface UpstreamFailure {
  /** For the client. */
  error: ApiError;
  /** The label in metrics: one of a few constants. */
  cause: string;
  /** Whether it counts against the replica, and not the request or the gateway. */
  isReplicas: boolean;
}

/** The meaning of an error between gateway and replica. */
export function upstreamFailure(replica: string, error: Error & { code?: string }): UpstreamFailure {
  switch (error.code) {
    case 'UPSTREAM_CONNECT_TIMEOUT':
      return { error: upstreamTimeout(replica, 'connection'), cause: 'no connection in time', isReplicas: true };
    case 'UPSTREAM_HEADERS_TIMEOUT':
      return { error: upstreamTimeout(replica, 'first byte'), cause: 'no first byte in time', isReplicas: true };
    case 'ECONNREFUSED':
      return broke(replica, 'it takes no connections');
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UPSTREAM_CUT':
      return broke(replica, 'the connection was cut');
    case 'UPSTREAM_MALFORMED':
    case 'UPSTREAM_HEAD_TOO_LARGE':
      return broke(replica, 'its response is not valid HTTP');
    case 'UPSTREAM_EMPTY':
      return broke(replica, 'its response has no body');
    case 'UPSTREAM_NOT_JSON':
      return broke(replica, 'its response is not JSON');
    case 'CREDENTIAL_REFUSED':
      return broke(replica, error.message);
    case 'UPSTREAM_BUSY':
      return { ...broke(replica, 'it has all the connections it may have'), isReplicas: false };
    case 'UPSTREAM_BAD_REQUEST':
    case 'UPSTREAM_CLOSED':
      return { ...broke(replica, error.message), isReplicas: false };
    default:
      return broke(replica, error.code ?? error.name);
  }
}

function broke(replica: string, problem: string): UpstreamFailure {
  return { error: upstreamBroke(replica, problem), cause: problem, isReplicas: true };
}
