import { RequestTable, setSourceId } from '../request-table.js';
import type { TraceFormat } from './format.js';
import { numberRounds, pausesAfterResponses } from './records/number-rounds.js';
import { readCsv } from './records/read-records.js';
import type { RecordSchema } from './records/record-schema.js';
import { recordMicroseconds } from './records/trace-record.js';

const TIME = 'Timestamp';
const MODEL = 'Model';
const INPUT = 'Request tokens';
const OUTPUT = 'Response tokens';
const SESSION = 'Session ID';
const ELAPSED = 'Elapsed time';

export const burstgptRecords: RecordSchema = {
  name: 'burstgpt',
  required: [TIME, MODEL, INPUT, OUTPUT],
  optional: [SESSION, ELAPSED],
  names: { arrival_time_us: TIME, client_id: MODEL, input_tokens: INPUT, output_tokens: OUTPUT, session_id: SESSION },
  reader() {
    const table = new RequestTable();
    /** By row: when the response was complete. */
    const endUs: number[] = [];
    let empty = 0;
    return {
      table,
      add(record, index) {
        const arrivalUs = recordMicroseconds(record, TIME, 1e6);
        const input = record.count(INPUT);
        const output = record.count(OUTPUT);
        if (input === 0 && output === 0) {
          empty++;
          return;
        }
        const row = table.append();
        setSourceId(table, row, index);
        table.arrivalUs[row] = arrivalUs;
        table.inputTokens[row] = input;
        table.outputTokens[row] = output;
        // A model that no replica serves would only get the request rejected.
        table.client[row] = table.clients.index(record.name(MODEL));
        const session = record.name(SESSION);
        if (session === '') return;
        table.session[row] = table.sessions.index(session);
        endUs[row] = arrivalUs + (record.name(ELAPSED) === '' ? 0 : recordMicroseconds(record, ELAPSED, 1e6));
      },
      end() {
        const notes = empty === 0 ? [] : [`failed requests without a token were left out: ${empty}`];
        if (table.sessions.size === 1) return { notes };
        return { notes, thinkTimeUs: pausesAfterResponses(table, numberRounds(table, null), endUs) };
      },
    };
  },
};

/** BurstGPT: requests of a campus to two models, with times in seconds; later releases with sessions. */
export const burstgpt: TraceFormat = {
  name: 'burstgpt',
  summary: 'BurstGPT: CSV with Timestamp, Model, Request tokens and Response tokens',
  looksLike: 'a CSV with the columns Timestamp, Model, Request tokens and Response tokens',
  detect: ({ text }) =>
    /^\s*[^\n{]*\bTimestamp\b/.test(text) && /^\s*[^\n{]*\b(?:Request|Response) tokens\b/.test(text),
  read: (path) => readCsv(path, burstgptRecords),
};
