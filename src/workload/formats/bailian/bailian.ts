import { PromptBlocks } from '../../prompt-blocks.js';
import { RequestTable, setSourceId } from '../../request-table.js';
import type { TraceFormat } from '../format.js';
import { addHashIds, HASH_BLOCK_TOKENS } from '../records/hash-ids.js';
import { numberRounds } from '../records/number-rounds.js';
import { setTokens } from '../records/plain-trace.js';
import { readJsonLines } from '../records/read-records.js';
import type { RecordSchema } from '../records/record-schema.js';
import { recordMicroseconds, type TraceRecord } from '../records/trace-record.js';
import { ParentChain } from './bailian-sessions.js';

/** The parent of a request that begins a session. */
const NO_PARENT = '-1';

export const bailianRecords: RecordSchema = {
  name: 'bailian',
  required: ['chat_id', 'timestamp', 'input_length', 'output_length', 'turn', 'hash_ids'],
  optional: ['parent_chat_id', 'session_id', 'type'],
  names: {
    arrival_time_us: 'timestamp',
    client_id: 'type',
    input_tokens: 'input_length',
    output_tokens: 'output_length',
    round_index: 'turn',
  },
  reader() {
    const table = new RequestTable();
    table.blocks = new PromptBlocks(HASH_BLOCK_TOKENS);
    const chain = new ParentChain(table);
    const turns: number[] = [];
    let chainNeeded = false;
    return {
      table,
      add(record, index) {
        const id = chatId(record, 'chat_id');
        const session = record.name('session_id');
        const row = table.append();
        setSourceId(table, row, index);
        table.arrivalUs[row] = recordMicroseconds(record, 'timestamp', 1e6);
        setTokens(table, row, record);
        addHashIds(table, row, record);
        table.client[row] = table.clients.index(record.name('type'));
        turns.push(record.count('turn'));
        if (session !== '') table.session[row] = table.sessions.index(session);
        else chainNeeded = true;
        chain.add(id, session === '' ? parentId(record) : null);
      },
      end(place) {
        const missing = chainNeeded ? chain.resolve(place) : 0;
        numberRounds(table, turns);
        if (missing === 0) return {};
        return { notes: [`sessions begin in the middle where the request before is not in the file: ${missing}`] };
      },
    };
  },
};

/** Bailian and B3: Mooncake's blocks with times in seconds, and sessions. */
export const bailian: TraceFormat = {
  name: 'bailian',
  summary:
    'Bailian and B3: JSON lines with chat_id, parent_chat_id or session_id, timestamp, lengths, turn and hash_ids',
  looksLike: 'JSON lines with chat_id, timestamp, input_length, output_length, turn and hash_ids',
  detect: ({ text }) => /^\s*\{[^\n]*"chat_id"/.test(text),
  read: (path) => readJsonLines(path, bailianRecords),
};

function chatId(record: TraceRecord, field: string): string {
  const id = record.name(field);
  if (id !== '') return id;
  throw record.invalid(field, 'is missing', 'give the number of the request');
}

function parentId(record: TraceRecord): string | null {
  if (record.get('parent_chat_id') === null) return null;
  if (record.get('parent_chat_id') === undefined) {
    throw record.invalid('parent_chat_id', 'is missing, and so is session_id', 'give one of the two');
  }
  const id = chatId(record, 'parent_chat_id');
  return id === NO_PARENT ? null : id;
}
