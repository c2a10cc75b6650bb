import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { md5Head } from '../../../../kernel/hash/md5.js';
import { noFreePort } from '../../errors.js';

/** Ports below this are often assigned by hand. */
const LOWEST = 20_000;
/** The default start of the range that Linux uses for outgoing connections. */
const USUAL_END = 32_768;
const EPHEMERAL_RANGE = '/proc/sys/net/ipv4/ip_local_port_range';

/**
 * Assigns ports to replicas. An engine may take minutes before it listens on its port, so ports come from below the range of
 * outgoing connections, and each belongs to one replica at a time. Whether a port is free is tested by binding it.
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

  /** A free port that no other replica has. A released one comes last: clients may still connect to it. */
  async take(): Promise<number> {
    for (let tries = 0; tries < this.#ports; tries++) {
      const port = LOWEST + this.#next;
      this.#next = (this.#next + 1) % this.#ports;
      if (!this.#held.has(port) && (await this.#reserve(port))) return port;
    }
    throw noFreePort();
  }

  /** Reserves the port of a replica that was found again. */
  keep(port: number): void {
    this.#held.add(port);
  }

  release(port: number): void {
    this.#held.delete(port);
  }

  /** Reserves a port if it is free: before it is tested, so that two callers cannot get the same. */
  async #reserve(port: number): Promise<boolean> {
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
