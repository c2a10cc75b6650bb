import type { IncomingMessage } from 'node:http';

/**
 * Reads what is left of a body that nobody wants: a connection that is closed under its sender takes the answer with it.
 * But there is an end to everything.
 */
export function discardBody(request: IncomingMessage, most: number): void {
  if (request.complete) return;
  let left = most;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
}
