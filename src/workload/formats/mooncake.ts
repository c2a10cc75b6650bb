import { forEachLine } from '../input-chunks.js';
import { PromptBlocks } from '../prompt-blocks.js';
import { RequestTable } from '../request-table.js';
import type { TraceFormat } from './format.js';
import { addHashIds, HASH_BLOCK_TOKENS } from './hash-ids.js';
import { JsonRecord, recordPlace } from './json-record.js';
import { plainTrace, tokensOf } from './plain-trace.js';

/** Mooncake: JSON lines with times in milliseconds and the ids of a prompt's chained blocks of 512 tokens. */
export const mooncake: TraceFormat = {
  name: 'mooncake',
  summary: 'Mooncake: JSON lines with timestamp, input_length, output_length and hash_ids',
  looksLike: 'JSON lines with timestamp, input_length, output_length and hash_ids',
  detect: ({ text }) => /^\s*\{[^\n]*"hash_ids"/.test(text) && !/^[^\n]*"chat_id"/.test(text.trimStart()),
  async read(path) {
    const table = new RequestTable();
    table.blocks = new PromptBlocks(HASH_BLOCK_TOKENS);
    await forEachLine(path, (line, number) => {
      if (line.trim() === '') return;
      const record = new JsonRecord(path, line, number);
      const row = table.append();
      table.sourceId[row] = row;
      table.arrivalUs[row] = Math.round(record.time('timestamp') * 1000);
      tokensOf(table, row, record);
      addHashIds(table, row, record);
    });
    return plainTrace('mooncake', path, table, (row, column) => recordPlace(path, row, column));
  },
};
