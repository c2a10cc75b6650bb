import { grownArray, roomFor } from '../../kernel/grown-array.js';

/** What happened to a request. */
export const PLACED = 0;
export const FIRST_TOKEN = 1;
export const ENDED = 2;
/** A placement without a copy of its decision. */
export const NO_COPY = -1;

/**
 * Placements, first tokens and ends of requests in their order, until the shadows have seen them: columns that are used again, so that
 * nothing is allocated for long.
 */
export class SeenQueue {
  size = 0;
  /** How many of them are placements. */
  placements = 0;
  kind = new Uint8Array(0);
  request = new Int32Array(0);
  atUs = new Float64Array(0);

  // Of placements.
  /** Which copy belongs to it, or NO_COPY. */
  copy = new Int32Array(0);
  /** A number in [0, 1): shadows whose chance is greater decide about it. */
  draw = new Float64Array(0);
  /** The slot of the replica. */
  replica = new Int32Array(0);
  readonly session: string[] = [];
  readonly ids: (readonly string[])[] = [];

  /** Adds an entry. Returns its index; of a placement the other columns are to be filled in. */
  add(kind: number, request: number, atUs: number): number {
    const at = this.size++;
    if (at >= this.kind.length) this.#grow(at);
    this.kind[at] = kind;
    this.request[at] = request;
    this.atUs[at] = atUs;
    if (kind === PLACED) this.placements++;
    return at;
  }

  clear(): void {
    this.size = 0;
    this.placements = 0;
  }

  #grow(at: number): void {
    const room = roomFor(at, this.kind.length);
    this.kind = grownArray(this.kind, room);
    this.request = grownArray(this.request, room);
    this.atUs = grownArray(this.atUs, room);
    this.copy = grownArray(this.copy, room);
    this.draw = grownArray(this.draw, room);
    this.replica = grownArray(this.replica, room);
  }
}
