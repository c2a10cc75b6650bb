import type { PromptBlocks } from '../../prompt-blocks.js';

/** No prompt has more blocks; a range that claims so is a mistake. */
const MAX_BLOCKS = 1 << 22;

/** The blocks of a row in the column `block_hashes`: ids and ranges of ids, `0-13 17`; empty when it has none. */
export function writeBlockList(blocks: PromptBlocks, row: number): string {
  const count = blocks.blocksOf(row);
  let text = '';
  for (let i = 0; i < count; ) {
    const first = blocks.block(row, i);
    let last = first;
    for (i++; i < count && blocks.block(row, i) === last + 1; i++) last++;
    text += `${text === '' ? '' : ' '}${last === first ? first : `${first}-${last}`}`;
  }
  return text;
}

/** Reads such lists, row by row, into the blocks of a table. */
export class BlockLists {
  static readonly accepted = "ids and ranges of ids with spaces between them, as in '0-13 17'";
  readonly #blocks: PromptBlocks;
  #row = -1;

  constructor(blocks: PromptBlocks) {
    this.#blocks = blocks;
  }

  /**
   * Sets the blocks of a row, or returns what is wrong with the list. A row whose line was cut off may be read again.
   */
  read(row: number, text: string): string | undefined {
    if (row === this.#row) return undefined;
    let count = 0;
    for (const item of text.split(' ')) {
      const [, from, to = from] = /^(\d+)(?:-(\d+))?$/.exec(item) ?? [];
      if (from === undefined) return `'${item.slice(0, 40)}' is not a block id`;
      const first = Number(from);
      const last = Number(to);
      if (last < first) return `the range ${item} runs backwards`;
      if (last > Number.MAX_SAFE_INTEGER) return `${item} is too large`;
      count += last - first + 1;
      if (count > MAX_BLOCKS) return `more than ${MAX_BLOCKS} blocks`;
      for (let id = first; id <= last; id++) this.#blocks.add(id);
    }
    this.#blocks.endRow(row);
    this.#row = row;
    return undefined;
  }
}
