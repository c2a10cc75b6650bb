import { file } from '../flags/kinds.js';

/** Where a command writes the one thing it makes. */
export const outputFlags = {
  output: {
    ...file({ help: 'where to write: p.csv (with p.yaml) or p.jsonl, packed as .gz; - for stdout' }),
    letter: 'o',
  },
};

export type OutputFlag = typeof outputFlags;
