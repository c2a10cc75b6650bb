/** Times as ISO 8601 in UTC. Many of one second come in a row: only its milliseconds are made anew. */
export class IsoTime {
  #second = Number.NaN;
  #prefix = '';

  /** @param ms since 1970 */
  text(ms: number): string {
    const second = Math.floor(ms / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#prefix = new Date(second * 1000).toISOString().slice(0, -'000Z'.length);
    }
    return `${this.#prefix}${String(Math.floor(ms - second * 1000)).padStart(3, '0')}Z`;
  }
}
