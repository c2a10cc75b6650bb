import { grownArray, roomFor } from './grown-array.js';

const NONE = -1;

/** Chats that a policy remembers: more are not live at once behind one router. */
export const MOST_CHATS = 100_000;

/**
 * Which replica each chat belongs to, by name, so that replicas may come and go. Remembers the chats that had a request most
 * recently: the one unheard of for longest makes room for a new one.
 */
export class ChatAffinity {
  readonly #capacity: number;
  readonly #entries = new Map<string, number>();

  // By entry.
  readonly #chats: string[] = [];
  readonly #replicas: string[] = [];
  #older = new Int32Array(0);
  #newer = new Int32Array(0);
  #oldest = NONE;
  #newest = NONE;

  constructor(capacity = MOST_CHATS) {
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
      this.#leaveLine(known);
      this.#joinLine(known);
      return;
    }
    const entry = this.#freshEntry();
    this.#chats[entry] = chat;
    this.#replicas[entry] = replica;
    this.#entries.set(chat, entry);
    this.#joinLine(entry);
  }

  #freshEntry(): number {
    const size = this.#entries.size;
    if (size < this.#capacity) {
      if (size === this.#older.length) {
        const room = Math.min(roomFor(size, size), this.#capacity);
        this.#older = grownArray(this.#older, room);
        this.#newer = grownArray(this.#newer, room);
      }
      return size;
    }
    const oldest = this.#oldest;
    this.#entries.delete(this.#chats[oldest]!);
    this.#leaveLine(oldest);
    return oldest;
  }

  #joinLine(entry: number): void {
    const newest = this.#newest;
    this.#older[entry] = newest;
    this.#newer[entry] = NONE;
    if (newest === NONE) this.#oldest = entry;
    else this.#newer[newest] = entry;
    this.#newest = entry;
  }

  #leaveLine(entry: number): void {
    const older = this.#older[entry]!;
    const newer = this.#newer[entry]!;
    if (older === NONE) this.#oldest = newer;
    else this.#newer[older] = newer;
    if (newer === NONE) this.#newest = older;
    else this.#older[newer] = older;
  }
}
