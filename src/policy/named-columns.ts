/**
 * Columns by name, in order of first use. `clear` keeps the arrays: columns are filled and cleared for every request, and a Map that
 * is cleared so often leaves a chain of old tables to the garbage collector.
 */
export class NamedColumns {
  readonly #names: string[] = [];
  readonly #columns: Float64Array[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The column of this name, created if needed; it may be longer than `replicas` and hold old values. */
  column(name: string, replicas: number): Float64Array {
    for (let i = 0; i < this.#size; i++) if (this.#names[i] === name) return this.#columns[i]!;
    const at = this.#size++;
    this.#names[at] = name;
    const kept = this.#columns[at];
    if (kept !== undefined && kept.length >= replicas) return kept;
    const column = new Float64Array(replicas);
    this.#columns[at] = column;
    return column;
  }

  get(name: string): Float64Array | undefined {
    for (let i = 0; i < this.#size; i++) if (this.#names[i] === name) return this.#columns[i];
    return undefined;
  }

  name(index: number): string {
    return this.#names[index]!;
  }

  at(index: number): Float64Array {
    return this.#columns[index]!;
  }

  names(): string[] {
    return this.#names.slice(0, this.#size);
  }

  clear(): void {
    this.#size = 0;
  }
}
