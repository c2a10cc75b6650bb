import { readFileSync } from 'node:fs';
import { RunError } from '../../kernel/errors.js';
import { notRay, serveTokenRefused, unreadableToken } from '../errors.js';
import { PollLoop } from '../poll-loop.js';
import { RayClient } from '../ray-client.js';
import { ChangingTransport, httpTransport, type RayAccess, type RayTransport } from '../ray-transport.js';
import { foundServeReplicas, type ServeDetails, type ServeReplica } from './found-replicas.js';
import type { RayServeTarget } from './serve-target.js';

export interface ServeDiscoveryParts {
  readonly target: RayServeTarget;
  /**
   * Called once after the first response, then whenever the replicas or the problem have changed. With a problem the replicas are
   * those seen last where Serve cannot be seen.
   */
  readonly found: (replicas: readonly ServeReplica[], problem: string | null) => void;
  /** From one look to the next, and at most while the dashboard cannot be reached. */
  readonly timing?: { readonly everyMs: number; readonly awayMs: number };
  /** Instead of HTTP. */
  readonly transport?: (access: RayAccess) => RayTransport;
}

const PATH = '/api/serve/applications/';
/** Serve lets a replica that leaves drain for half a minute. */
const TIMING = { everyMs: 1000, awayMs: 5000 };

/** Follows the replicas of a Ray Serve application. One path is read; nothing is ever written. */
export class ServeDiscovery {
  /** Resolves after the first response of Serve. */
  readonly synced: Promise<void>;
  readonly #parts: ServeDiscoveryParts;
  readonly #transport: ChangingTransport;
  readonly #client: RayClient;
  readonly #loop = new PollLoop(() => this.#look());
  #isSynced!: () => void;
  #seen: readonly ServeReplica[] = [];
  #failures = 0;
  #last = '';
  #isClosed = false;

  /** Throws an InputError when a file of the target cannot be read. */
  constructor(parts: ServeDiscoveryParts) {
    this.#parts = parts;
    this.#transport = new ChangingTransport(accessOf(parts.target), parts.transport ?? httpTransport);
    this.#client = new RayClient(parts.target.url, this.#transport);
    this.synced = new Promise((resolve) => {
      this.#isSynced = resolve;
    });
    this.#loop.call();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client.close();
    await this.#loop.close();
  }

  async #look(): Promise<number> {
    const { target, timing = TIMING } = this.#parts;
    try {
      // The token may have been replaced.
      this.#transport.use(accessOf(target));
      const details = await this.#client.json<ServeDetails | null>({ path: PATH });
      if (typeof details?.applications !== 'object') throw notRay(target.url, `${PATH}: no applications`);
      const { problem, replicas } = foundServeReplicas(details, target);
      this.#failures = 0;
      if (replicas !== null) this.#seen = replicas;
      this.#report(problem);
      this.#isSynced();
      return timing.everyMs;
    } catch (error) {
      const isRefused = error instanceof RunError && error.code === 'RAY_TOKEN';
      this.#report((isRefused ? serveTokenRefused(target.url) : (error as Error)).message);
      return Math.min(timing.awayMs, timing.everyMs * 2 ** this.#failures++);
    }
  }

  #report(problem: string | null): void {
    const state = JSON.stringify([this.#seen, problem]);
    if (state === this.#last || this.#isClosed) return;
    this.#last = state;
    this.#parts.found(this.#seen, problem);
  }
}

function accessOf({ caFile, tokenFile, url }: RayServeTarget): RayAccess {
  if (tokenFile === null) return { url, caFile, token: null };
  try {
    return { url, caFile, token: readFileSync(tokenFile, 'utf8').trim() };
  } catch (error) {
    throw unreadableToken(tokenFile, error);
  }
}
