import { LAB_LIMITS } from '../../twin/lab/lab-question.js';
import type { LabResult } from '../../twin/lab/lab-task.js';
import { resultTooLarge } from './errors.js';

/** The result, with its curves, as the server keeps it in memory and in its store. Throws where it is too large for that. */
export function boundedResult(result: LabResult): LabResult {
  if (JSON.stringify(result).length > LAB_LIMITS.resultBytes) throw resultTooLarge();
  return result;
}
