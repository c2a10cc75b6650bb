/** Remembers what was made of texts, so many of them; then it begins anew, so that it stays small. */
export class Memo {
  readonly #make: (text: string) => string;
  readonly #most: number;
  readonly #known = new Map<string, string>();

  constructor(most: number, make: (text: string) => string) {
    this.#most = most;
    this.#make = make;
  }

  of(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const made = this.#make(text);
    if (this.#known.size >= this.#most) this.#known.clear();
    this.#known.set(text, made);
    return made;
  }
}
