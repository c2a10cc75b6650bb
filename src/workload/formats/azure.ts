import { requestEmpty } from '../errors.js';
import { RequestTable, setSourceId } from '../request-table.js';
import type { TraceFormat } from './format.js';
import { momentUs } from './records/moment.js';
import { readCsv } from './records/read-records.js';
import type { RecordSchema } from './records/record-schema.js';
import { startAtZero } from './records/start-at-zero.js';
import { shownValue } from './records/trace-record.js';

const TIME = 'TIMESTAMP';
const INPUT = 'ContextTokens';
const OUTPUT = 'GeneratedTokens';

export const azureRecords: RecordSchema = {
  name: 'azure',
  required: [TIME, INPUT, OUTPUT],
  optional: [],
  names: { arrival_time_us: TIME, input_tokens: INPUT, output_tokens: OUTPUT },
  reader() {
    const table = new RequestTable();
    return {
      table,
      add(record, index) {
        const text = record.name(TIME);
        const moment = momentUs(text);
        if (Number.isNaN(moment)) {
          const hint = 'write it as 2023-11-16 18:15:46.6805900, with or without +00:00';
          throw record.invalid(TIME, `${shownValue(text)} is not a date and time`, hint);
        }
        const input = record.count(INPUT);
        const output = record.count(OUTPUT);
        if (input === 0 && output === 0) throw requestEmpty(record.place(INPUT));
        const row = table.append();
        setSourceId(table, row, index);
        table.arrivalUs[row] = moment;
        table.inputTokens[row] = input;
        table.outputTokens[row] = output;
      },
      end() {
        startAtZero(table);
        return {};
      },
    };
  },
};

/** The traces of LLM inference at Azure, of 2023 and of 2024: dates and two lengths. */
export const azure: TraceFormat = {
  name: 'azure',
  summary: 'Azure LLM inference traces: CSV with TIMESTAMP, ContextTokens and GeneratedTokens',
  looksLike: 'a CSV with the columns TIMESTAMP, ContextTokens and GeneratedTokens',
  detect: ({ text }) =>
    /^\s*[^\n{]*\bTIMESTAMP\b/.test(text) && /^\s*[^\n{]*\b(?:Context|Generated)Tokens\b/.test(text),
  read: (path) => readCsv(path, azureRecords),
};
