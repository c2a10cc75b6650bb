import { roomFor } from '../../../kernel/grown-array.js';
import { RecencyLists } from '../../../kernel/recency-lists.js';

/** The one list of chats. */
const CHATS = 0;

/** Chats that a policy remembers: more are not live at once behind one router. */
export const MOST_SESSIONS = 100_000;

/**
 * Which replica each chat belongs to, by name, so that replicas may come and go. Remembers the chats that had a request most
 * recently: the one unheard of for longest makes room for a new one.
 */
export class SessionAffinity {
  readonly #capacity: number;
  readonly #entries = new Map<string, number>();

  // By entry.
  readonly #chats: string[] = [];
  readonly #replicas: string[] = [];
  readonly #recency = new RecencyLists(1);
  #room = 0;

  constructor(capacity = MOST_SESSIONS) {
    this.#capacity = capacity;
  }

  /** Chats remembered. */
  get size(): number {
    return this.#entries.size;
  }

  /** The name of the chat's replica, or undefined. Looking up does not refresh the chat. */
  get(chat: string): string | undefined {
    const entry = this.#entries.get(chat);
    return entry === undefined ? undefined : this.#replicas[entry];
  }

  /** The chat belongs to this replica and was heard of just now. */
  set(chat: string, replica: string): void {
    const known = this.#entries.get(chat);
    if (known !== undefined) {
      this.#replicas[known] = replica;
      this.#recency.remove(CHATS, known);
      this.#recency.append(CHATS, known);
      return;
    }
    const entry = this.#freshEntry();
    this.#chats[entry] = chat;
    this.#replicas[entry] = replica;
    this.#entries.set(chat, entry);
    this.#recency.append(CHATS, entry);
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
    const oldest = this.#recency.oldest[CHATS]!;
    this.#entries.delete(this.#chats[oldest]!);
    this.#recency.remove(CHATS, oldest);
    return oldest;
  }
}
