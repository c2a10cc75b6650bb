import { headersTimeout } from './upstream-error.js';
import type { UpstreamPool } from './upstream-pool.js';

const NOTHING = Buffer.alloc(0);

/**
 * Fetches a page as text: for health checks and metrics, where convenience counts more than speed.
 * @param timeoutMs for the whole exchange, up to the last byte
 */
export function ask(
  pool: UpstreamPool,
  path: string,
  { timeoutMs, mostBytes }: { timeoutMs: number; mostBytes: number },
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    let status = 0;
    const giveUp = (error: Error) => {
      clearTimeout(timer);
      request.abort();
      reject(error);
    };
    const timer = setTimeout(() => giveUp(headersTimeout()), timeoutMs);
    const request = pool.dispatch(
      { path, method: 'GET', headers: [], body: NOTHING },
      {
        onHeaders: (code) => {
          status = code;
        },
        onData: (piece) => {
          pieces.push(piece);
          length += piece.length;
          if (length > mostBytes) giveUp(new Error(`${path} is larger than ${mostBytes} bytes`));
          return true;
        },
        onComplete: () => {
          clearTimeout(timer);
          resolve({ status, text: Buffer.concat(pieces).toString('utf8') });
        },
        onError: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      },
    );
  });
}
