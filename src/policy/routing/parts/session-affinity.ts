import { roomFor } from '../../../kernel/grown-array.js';
import { RecencyLists } from '../../../kernel/recency-lists.js';

/** The only list of `RecencyLists`. */
const SESSIONS = 0;

/** Sessions that a policy remembers: more than are active at once behind one router. */
export const MOST_SESSIONS = 100_000;

/**
 * The replica of each session, by id, so that replicas may join and leave. Remembers the sessions with the most recent requests: the
 * least recent one is dropped for a new one.
 */
export class SessionAffinity {
  readonly #capacity: number;
  readonly #entries = new Map<string, number>();

  // By entry.
  readonly #sessions: string[] = [];
  readonly #replicas: string[] = [];
  readonly #recency = new RecencyLists(1);
  #room = 0;

  constructor(capacity = MOST_SESSIONS) {
    this.#capacity = capacity;
  }

  /** Sessions remembered. */
  get size(): number {
    return this.#entries.size;
  }

  /** The id of the session's replica, or undefined. A lookup does not make the session more recent. */
  get(session: string): string | undefined {
    const entry = this.#entries.get(session);
    return entry === undefined ? undefined : this.#replicas[entry];
  }

  /** The session belongs to this replica and is the most recent one. */
  set(session: string, replica: string): void {
    const known = this.#entries.get(session);
    if (known !== undefined) {
      this.#replicas[known] = replica;
      this.#recency.remove(SESSIONS, known);
      this.#recency.append(SESSIONS, known);
      return;
    }
    const entry = this.#freshEntry();
    this.#sessions[entry] = session;
    this.#replicas[entry] = replica;
    this.#entries.set(session, entry);
    this.#recency.append(SESSIONS, entry);
  }

  #freshEntry(): number {
    const size = this.#entries.size;
    if (size < this.#capacity) {
      if (size === this.#room) {
        this.#room = Math.min(roomFor(size, size), this.#capacity);
        this.#recency.reserve(this.#room);
      }
      return size;
    }
    const oldest = this.#recency.oldest[SESSIONS]!;
    this.#entries.delete(this.#sessions[oldest]!);
    this.#recency.remove(SESSIONS, oldest);
    return oldest;
  }
}
