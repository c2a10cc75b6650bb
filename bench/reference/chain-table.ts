/** The chain of a block that has none: not full, or the start of a prompt. */
export const NO_CHAIN = 0;

/**
 * Names block contents together with everything before them: equal numbers mean equal tokens from the start of the
 * prompt to the end of the block. Exact, unlike a digest: the tokens themselves are the key.
 */
export class ChainTable {
  readonly #chains = new Map<string, number>();

  extend(previous: number, tokens: readonly number[]): number {
    const key = `${previous}|${tokens.join()}`;
    const known = this.#chains.get(key);
    if (known !== undefined) return known;
    const fresh = this.#chains.size + 1;
    this.#chains.set(key, fresh);
    return fresh;
  }

  /** The chains of a prompt's full blocks, first to last. */
  ofPrompt(tokens: readonly number[], blockSize: number): number[] {
    const chains: number[] = [];
    let previous = NO_CHAIN;
    for (let end = blockSize; end <= tokens.length; end += blockSize) {
      previous = this.extend(previous, tokens.slice(end - blockSize, end));
      chains.push(previous);
    }
    return chains;
  }
}
