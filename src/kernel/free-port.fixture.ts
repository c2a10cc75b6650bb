import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports of replicas, and of clients, one of which could take a port before its server opens it. */
const [FIRST, COUNT] = [19_000, 1000];
/** So far apart look a process and the next, and a process the next time. */
const STEP = 31;

let next = (process.pid * STEP) % COUNT;

/** A port of loopback for a server that starts later, or again: nothing but tests takes ports of this range. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
