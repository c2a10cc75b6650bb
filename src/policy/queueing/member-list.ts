import { grownArray, roomFor } from '../../kernel/grown-array.js';

/** The links of many lists at once. A member is a small whole number and is in one list at most. */
export class MemberLinks {
  next = new Int32Array(0);
  previous = new Int32Array(0);

  /** Makes room for members up to this one. */
  reserve(member: number): void {
    if (member < this.next.length) return;
    const room = roomFor(member, this.next.length);
    this.next = grownArray(this.next, room);
    this.previous = grownArray(this.previous, room);
  }
}

/** A doubly linked list in order of appending; every operation takes constant time and allocates nothing. */
export class MemberList {
  /** -1 when empty. */
  first = -1;
  last = -1;
  size = 0;
  readonly #links: MemberLinks;

  constructor(links: MemberLinks) {
    this.#links = links;
  }

  append(member: number): void {
    const links = this.#links;
    links.previous[member] = this.last;
    links.next[member] = -1;
    if (this.last < 0) this.first = member;
    else links.next[this.last] = member;
    this.last = member;
    this.size++;
  }

  /** The member must be in this list. */
  remove(member: number): void {
    const { next, previous } = this.#links;
    const before = previous[member]!;
    const after = next[member]!;
    if (before < 0) this.first = after;
    else next[before] = after;
    if (after < 0) this.last = before;
    else previous[after] = before;
    this.size--;
  }

  /** The member after this one, or -1. */
  after(member: number): number {
    return this.#links.next[member]!;
  }
}
