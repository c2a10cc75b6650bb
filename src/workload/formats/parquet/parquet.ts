import type { TraceFormat } from '../format.js';

/** Parquet with the columns of a format that has a record per request. */
export const parquet: TraceFormat = {
  name: 'parquet',
  summary: 'Parquet with the columns of mooncake, bailian, azure or burstgpt',
  looksLike: 'a Parquet file, beginning with PAR1',
  detect: ({ bytes }) => bytes.toString('latin1', 0, 4) === 'PAR1',
  async read(path) {
    const { readParquet } = await import('./read-parquet.js');
    return readParquet(path);
  },
};
