import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { md5Head } from '../../../kernel/md5.js';
import { noFreePort, portTaken } from '../errors.js';

/** Below this are the ports that people give to programs by hand. */
const LOWEST = 20_000;
/** Where Linux begins with the ports of outgoing connections, unless it was told otherwise. */
const USUAL_END = 32_768;
const EPHEMERAL_RANGE = '/proc/sys/net/ipv4/ip_local_port_range';

/**
 * The ports of replicas. An engine may take minutes before it listens on the port it was given, so ports come from below
 * those that the system gives to outgoing connections, and each goes to one replica at a time. Whether it is free is for the
 * system to say.
 */
export class PortBook {
  readonly #held = new Set<number>();
  readonly #ports: number;
  #next: number;

  /** @param place spreads the replicas of several control planes over the ports */
  constructor(place: string, range = readRange()) {
    this.#ports = Math.max(1, Number(range.split(/\s+/)[0]) - LOWEST) || USUAL_END - LOWEST;
    const hash = new Uint32Array(2);
    md5Head(place, hash);
    this.#next = hash[0]! % this.#ports;
  }

  /** A port that is free and that no other replica has. One that was given back comes last: somebody may still ask there. */
  async take(): Promise<number> {
    for (let tries = 0; tries < this.#ports; tries++) {
      const port = LOWEST + this.#next;
      this.#next = (this.#next + 1) % this.#ports;
      if (!this.#held.has(port) && (await this.#isTaken(port))) return port;
    }
    throw noFreePort();
  }

  /** This port and no other. */
  async takeExactly(port: number): Promise<number> {
    if (this.#held.has(port) || !(await this.#isTaken(port))) throw portTaken(port);
    return port;
  }

  /** A replica that was found again has its port already. */
  keep(port: number): void {
    this.#held.add(port);
  }

  release(port: number): void {
    this.#held.delete(port);
  }

  /** Whether the port is ours now: it is held while the system is asked, so that two who ask do not get the same. */
  async #isTaken(port: number): Promise<boolean> {
    this.#held.add(port);
    const free = await isFree(port);
    if (!free) this.#held.delete(port);
    return free;
  }
}

function readRange(): string {
  try {
    return readFileSync(EPHEMERAL_RANGE, 'utf8');
  } catch {
    return '';
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
