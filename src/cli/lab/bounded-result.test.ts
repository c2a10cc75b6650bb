import { expect, it } from 'vitest';
import { LAB_LIMITS } from '../../twin/lab/lab-question.js';
import type { LabResult } from '../../twin/lab/lab-task.js';
import { boundedResult } from './bounded-result.js';

it('counts the curves of a result', () => {
  const result = { document: {}, curves: [{ name: 'lmetric', ttft_ms: [1] }] } as unknown as LabResult;
  expect(boundedResult(result)).toBe(result);
  const ttftMs = Array.from({ length: LAB_LIMITS.resultBytes / 2 }, () => 1);
  const long = { ...result, curves: [{ name: 'lmetric', ttft_ms: ttftMs }] } as unknown as LabResult;
  expect(() => boundedResult(long)).toThrow(expect.objectContaining({ code: 'LAB_TOO_LARGE' }));
});
