import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What was exchanged with a server. */
export interface ProxiedExchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: string;
}

/** A server that passes requests on to another and records them. */
export class RecordingProxy {
  readonly exchanges: ProxiedExchange[] = [];

  private constructor(
    readonly url: string,
    readonly close: () => Promise<void>,
  ) {}

  static async start(target: string): Promise<RecordingProxy> {
    const server = createServer((incoming, outgoing) => {
      const { method = '', url: path = '' } = incoming;
      const forwarded = request(`${target}${path}`, { method, headers: incoming.headers }, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () => {
          const body = Buffer.concat(pieces);
          const status = response.statusCode!;
          proxy.exchanges.push({ method, path, status, body: body.toString('utf8') });
          outgoing.writeHead(status, { 'content-type': response.headers['content-type'] ?? '' }).end(body);
        });
        response.on('error', () => outgoing.destroy());
      });
      forwarded.on('error', () => outgoing.destroy());
      outgoing.on('close', () => forwarded.destroy());
      incoming.pipe(forwarded);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = new RecordingProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return proxy;
  }
}
