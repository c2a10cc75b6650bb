import type { ApiError } from '../../protocol/errors.js';
import { upstreamBroke, upstreamTimeout } from '../errors.js';

/** What an error on the way to a replica or back means for the client. */
export function upstreamFailure(replica: string, error: Error & { code?: string }): ApiError {
  switch (error.code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return upstreamTimeout(replica, 'connection');
    case 'UND_ERR_HEADERS_TIMEOUT':
      return upstreamTimeout(replica, 'first byte');
    case 'UND_ERR_BODY_TIMEOUT':
      return upstreamTimeout(replica, 'further byte');
    case 'ECONNREFUSED':
      return upstreamBroke(replica, 'it takes no connections');
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
    case 'EPIPE':
      return upstreamBroke(replica, 'the connection was cut');
    default:
      return upstreamBroke(replica, error.code ?? error.name);
  }
}
