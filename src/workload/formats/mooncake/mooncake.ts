import { PromptBlocks } from '../../prompt-blocks.js';
import { RequestTable, setSourceId } from '../../request-table.js';
import type { TraceFormat } from '../format.js';
import { addHashIds, HASH_BLOCK_TOKENS } from '../records/hash-ids.js';
import { setTokens } from '../records/plain-trace.js';
import { readJsonLines } from '../records/read-records.js';
import type { RecordSchema } from '../records/record-schema.js';
import { recordMicroseconds } from '../records/trace-record.js';

export const mooncakeRecords: RecordSchema = {
  name: 'mooncake',
  required: ['timestamp', 'input_length', 'output_length', 'hash_ids'],
  optional: ['chat_id'],
  names: { arrival_time_us: 'timestamp', input_tokens: 'input_length', output_tokens: 'output_length' },
  reader() {
    const table = new RequestTable();
    table.blocks = new PromptBlocks(HASH_BLOCK_TOKENS);
    return {
      table,
      add(record, index) {
        // Bailian's records would be understood, their seconds as milliseconds.
        if (record.get('chat_id') !== undefined) throw record.invalid('chat_id', 'has no meaning here', 'leave it out');
        const row = table.append();
        setSourceId(table, row, index);
        table.arrivalUs[row] = recordMicroseconds(record, 'timestamp', 1000);
        setTokens(table, row, record);
        addHashIds(table, row, record);
      },
    };
  },
};

/** Mooncake: JSON lines with times in milliseconds and the ids of a prompt's chained blocks of 512 tokens. */
export const mooncake: TraceFormat = {
  name: 'mooncake',
  summary: 'Mooncake: JSON lines with timestamp, input_length, output_length and hash_ids',
  looksLike: 'JSON lines with timestamp, input_length, output_length and hash_ids',
  detect: ({ text }) => /^\s*\{[^\n]*"hash_ids"/.test(text) && !/^[^\n]*"chat_id"/.test(text.trimStart()),
  read: (path) => readJsonLines(path, mooncakeRecords),
};
