/** No time is too long. */
export const NEVER = Number.POSITIVE_INFINITY;

/** How long a client has been at one thing, by looking now and then: no request pays for a clock. */
export class ClientPatience {
  /** Since when, as far as anybody has looked; -1 when nobody has. */
  #sinceMs = -1;

  /** It begins with another thing. */
  begin(): void {
    this.#sinceMs = -1;
  }

  /** Whether it has been at the same thing for so long. Its time begins with the first look. */
  isOver(nowMs: number, longestMs: number): boolean {
    if (longestMs === NEVER) this.#sinceMs = -1;
    else if (this.#sinceMs < 0) this.#sinceMs = nowMs;
    else return nowMs - this.#sinceMs >= longestMs;
    return false;
  }
}
