import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

export interface FetchedPage {
  readonly status: number;
  readonly text: string;
  /** How far the server's clock is ahead of this one, to the second; null when it does not send its time. */
  readonly aheadMs: number | null;
}

const MOST_BYTES = 8 * 1024 * 1024;

/**
 * GET on a new connection. Rejects with the system's error, or when there is no whole response in time.
 * @param isAnyCertificate for a server of this machine that is only to be recognised
 */
export function getPage(url: string, timeoutMs: number, isAnyCertificate = false): Promise<FetchedPage> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const signal = AbortSignal.timeout(timeoutMs);
    const request = send(url, { agent: false, signal, rejectUnauthorized: !isAnyCertificate }, (response) => {
      const date = Date.parse(response.headers.date ?? '');
      const pieces: Buffer[] = [];
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > MOST_BYTES) request.destroy(new Error('response too large'));
        else pieces.push(piece);
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          text: Buffer.concat(pieces).toString('utf8'),
          // The header is cut to the second.
          aheadMs: Number.isNaN(date) ? null : date + 500 - Date.now(),
        }),
      );
    });
    request.on('error', (error) => reject(signal.aborted ? new Error(`no response in ${timeoutMs / 1000} s`) : error));
    request.end();
  });
}
