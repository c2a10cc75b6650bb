import type { IncomingMessage } from 'node:http';
import { bodyTooLarge } from '../errors.js';

/** The whole body of a request; fails when it is too large, or when the client leaves before its end. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > maxBytes) {
      reject(bodyTooLarge(maxBytes));
      return;
    }
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) {
        request.removeAllListeners('data');
        reject(bodyTooLarge(maxBytes));
      } else {
        chunks.push(chunk);
      }
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length)));
    request.on('error', reject);
  });
}
