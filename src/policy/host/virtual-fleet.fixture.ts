import { contentKey } from './content-key.js';
import { PolicyHost } from './policy-host.js';
import { OPEN_ADMISSION } from './policy-settings.js';
import { LIVE } from './worlds.js';

export interface VirtualFleetOptions {
  policy?: string;
  replicas?: number;
  clients?: number;
  isStreamed?: boolean;
  /** How long a replica takes for the first byte of a request that is sent now; Infinity: it never comes. */
  firstByteUs: (replica: number, nowUs: number, client: number) => number;
}

export const SECOND = 1_000_000;
const REVIEW_US = 250_000;
const REST_US = 50_000;
const TOKENS = 900;
const BLOCKS = Int32Array.from({ length: 50 }, (_, i) => i + 1);

/** A fleet in virtual time under clients that each send one request after the other, with the suspicion as the gateway uses it. */
export class VirtualFleet {
  readonly host: PolicyHost;
  nowUs = 0;
  /** Requests sent to each replica, and served by the fleet. */
  readonly sent: number[];
  served = 0;
  moves = 0;
  /** The longest time from a request's arrival to its first byte. */
  longestUs = 0;
  readonly changes: string[] = [];
  readonly #options: Required<VirtualFleetOptions>;
  readonly #events: { atUs: number; client: number; attempt: number; what: 'first' | 'end' }[] = [];
  readonly #arrivedUs: number[] = [];
  readonly #on: number[] = [];
  /** Attempts of each client: events of former ones are ignored. */
  readonly #attempts: number[] = [];
  #tried: number[][] = [];
  #reviewAtUs = 0;

  constructor(options: VirtualFleetOptions) {
    this.#options = { policy: 'round-robin', replicas: 4, clients: 30, isStreamed: true, ...options };
    const { clients, policy, replicas } = this.#options;
    const settings = { ...OPEN_ADMISSION, routing: { policy, options: {} }, blockSize: 16, cacheBlocks: 1000 };
    this.host = new PolicyHost(settings, { world: LIVE, seed: 1, mostReplicas: replicas, allBooks: true });
    this.host.setReplicas(Array.from({ length: replicas }, (_, i) => `r${i}`));
    this.sent = Array.from({ length: replicas }, () => 0);
    this.suspicion.onChange = (replica, isSuspect) => this.changes.push(`${isSuspect ? '-' : '+'}r${replica}`);
    for (let client = 0; client < clients; client++) {
      this.#attempts[client] = 0;
      this.#arrive(client);
    }
  }

  get suspicion() {
    return this.host.suspicion!;
  }

  get suspects(): number[] {
    return [...this.sent.keys()].filter((replica) => this.suspicion.isSuspect(replica));
  }

  /** Clients whose request waits for its first byte. */
  get waiting(): number {
    return [...this.#on.keys()].filter((client) => this.suspicion.waits.replica(client) >= 0).length;
  }

  run(untilUs: number): void {
    for (;;) {
      const next = this.#events.reduce((best, { atUs }, i) => (atUs < this.#events[best]!.atUs ? i : best), 0);
      const atUs = this.#events[next]?.atUs ?? Number.POSITIVE_INFINITY;
      if (Math.min(atUs, this.#reviewAtUs) > untilUs) break;
      if (atUs <= this.#reviewAtUs) this.#happens(next);
      else this.#review();
    }
    this.nowUs = untilUs;
  }

  #happens(index: number): void {
    const { atUs, attempt, client, what } = this.#events[index]!;
    this.#events.splice(index, 1);
    this.nowUs = atUs;
    if (attempt !== this.#attempts[client]) return;
    if (what === 'first') {
      this.longestUs = Math.max(this.longestUs, atUs - this.#arrivedUs[client]!);
      this.suspicion.firstByte(client, true, atUs);
      this.host.firstToken(client);
      this.#events.push({ atUs: atUs + REST_US, client, attempt, what: 'end' });
    } else {
      this.served++;
      this.#leave(client);
      this.#arrive(client);
    }
  }

  #review(): void {
    this.nowUs = this.#reviewAtUs;
    this.#reviewAtUs += REVIEW_US;
    this.suspicion.review(this.nowUs);
    for (const client of this.#on.keys()) {
      if (this.suspicion.lateness(client, this.nowUs) === 'in time' || this.#tried[client]!.length === 2) continue;
      this.moves++;
      this.#tried[client]!.push(this.#on[client]!);
      this.#leave(client);
      this.#place(client);
    }
  }

  #leave(client: number): void {
    this.suspicion.left(client, this.nowUs);
    this.host.finished(client);
    this.#attempts[client]!++;
  }

  #arrive(client: number): void {
    this.#arrivedUs[client] = this.nowUs;
    this.#tried[client] = [];
    this.#place(client);
  }

  #place(client: number): void {
    const { firstByteUs, isStreamed } = this.#options;
    const { host, nowUs } = this;
    const tried = this.#tried[client]!;
    const removed = this.sent.map((_, slot) => (tried.includes(slot) ? 'tried before' : null));
    this.suspicion.remove(removed, nowUs, tried.length === 0);
    host.describe(nowUs, TOKENS, host.priorities.classOf(''), -1, `session-${client}`);
    host.restrict(removed);
    const body = { messages: [{ role: 'user', content: `client ${client}` }] };
    Object.assign(host.features, { blocks: BLOCKS, blockCount: BLOCKS.length, body });
    host.features.contentKey = contentKey(client % 7, `session-${client}`, '');
    const replica = host.pick();
    host.placed(client, replica);
    const size = host.view.pendingPrefillTokens[replica]!;
    this.suspicion.placed(client, replica, { kind: 0, size, isStreamed, attempt: tried.length }, nowUs);
    this.#on[client] = replica;
    this.sent[replica]!++;
    const tookUs = firstByteUs(replica, nowUs, client);
    if (!Number.isFinite(tookUs)) return;
    this.#events.push({ atUs: nowUs + tookUs, client, attempt: this.#attempts[client]!, what: 'first' });
  }
}
