import { type Observed, SENT_COLUMNS, type SentColumn } from '../observed.js';
import { csvField } from './data/csv-file.js';

const TRAILING: readonly SentColumn[] = [
  'serverOutputTokens',
  'plannedInputTokens',
  'plannedOutputTokens',
  'latenessUs',
  'capWaitUs',
  'connectUs',
];

/** Names of the columns after the usual ones with the sender's measurements. */
export const SENT_TRAILING: readonly string[] = [
  'x_request_id',
  'server_cached_tokens',
  ...TRAILING.map((name) => SENT_COLUMNS[name]),
  'error_class',
];

/** Their values, with a comma in front of each. */
export function sentTrailing({ cachedTokens, sent }: Observed, row: number): string {
  const { problem, xRequestId } = sent!;
  let text = `,${csvField(xRequestId[row]!)},${cachedTokens[row]}`;
  for (const name of TRAILING) text += `,${Math.round(sent![name][row]!)}`;
  return `${text},${csvField(problem[row]!)}`;
}

/** The usual columns from `num_chunks` on. */
export function sentEnding({ sent }: Observed, row: number, status: string): string {
  const { chunks, finishReason, message } = sent!;
  const written = status === 'incomplete' ? 'error' : status;
  // One line a row: others may read the file line by line.
  const plain = message[row]!.replace(/\p{Cc}+/gu, ' ');
  return `${chunks[row]},${written},${csvField(plain)},${csvField(finishReason[row]!)}`;
}
