import type { ResponseProblem } from '../client/response-problem.js';
import type { RequestRecords } from './request-records.js';
import type { SentRequest } from './sent-request.js';

/**
 * Records the result of a request.
 * @param wanted requested output tokens; null for any number
 */
export function recordSent(records: RequestRecords, exchange: SentRequest, wanted: number | null): void {
  const { endUs, handedUs, problem, reader, row, sentUs } = exchange;
  // A request whose bytes never went out was sent when it was tried.
  const went = Number.isNaN(sentUs) ? handedUs : sentUs;
  records.sentUs[row] = went;
  records.connectUs[row] = went - handedUs;
  records.firstUs[row] = reader.firstUs;
  records.lastUs[row] = problem === null ? reader.lastUs : endUs;
  records.chunks[row] = reader.chunks;
  records.inputTokens[row] = reader.counts.inputTokens;
  records.cachedTokens[row] = reader.counts.cachedTokens;
  records.outputTokens[row] = reader.counts.outputTokens;
  records.finishReason[row] = reader.finishReason;
  records.isComplete[row] = problem === null ? 1 : 0;
  const found = problem ?? doubt(exchange, wanted);
  if (found !== null) records.problems.set(row, found);
}

/** What is wrong with a response that is complete. */
function doubt({ reader }: SentRequest, wanted: number | null): ResponseProblem | null {
  const { inputTokens, outputTokens } = reader.counts;
  if (inputTokens < 0 || outputTokens < 0) {
    return { class: 'no_usage', message: 'the response does not report its token counts' };
  }
  if (wanted === null || outputTokens === wanted) return null;
  return { class: 'other_tokens', message: `${outputTokens} output tokens instead of ${wanted}` };
}
