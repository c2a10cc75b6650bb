import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy in front of a server, which can fall silent: connections stay open, and nothing passes any more. */
export interface SilentProxy {
  /** The same address by way of the proxy. */
  url(address: string): string;
  /** Resolves when the first bytes have been lost. */
  fallSilent(): Promise<void>;
  close(): Promise<void>;
}

/** @param address URL of the server */
export async function startSilentProxy(address: string): Promise<SilentProxy> {
  const { hostname, port } = new URL(address);
  const sockets = new Set<Socket>();
  let isSilent = false;
  let lost = () => {};
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => {
        if (isSilent) lost();
        else to.write(bytes);
      });
      from.on('end', () => isSilent || to.end());
      from.on('error', () => {});
      from.on('close', () => sockets.delete(from));
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: (given) => given.replace(`:${port}/`, `:${(proxy.address() as AddressInfo).port}/`),
    fallSilent() {
      isSilent = true;
      return new Promise((resolve) => {
        lost = resolve;
      });
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
