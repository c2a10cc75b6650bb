import type { ObservedTrace } from '../../src/observe/fit/traces/observed-trace.js';
import type { GpuSpec, ModelSpec } from '../../src/replica/catalogue/contract.js';
import { RequestTable } from '../../src/workload/request-table.js';

/** A run of a real engine: its requests, their latencies, and what is known of its model and its GPU. */
export interface MeasuredRun extends ObservedTrace {
  set: string;
  model: ModelSpec;
  gpu: GpuSpec;
  tp: number;
}

/** A run of which only these are known, in ms: its requests are like those of another. */
export interface AggregateRun extends Omit<MeasuredRun, 'ttftUs' | 'e2eUs'> {
  measuredMs: Record<'e2e_mean' | 'e2e_p90' | 'e2e_p99' | 'ttft_mean' | 'ttft_p90' | 'ttft_p99', number>;
}

/** One request as recorded in the file of a run; latencies count from the arrival. */
export interface MeasuredRequest {
  arrivalUs: number;
  inputTokens: number;
  outputTokens: number;
  ttftUs: number;
  e2eUs: number;
}

/** Rows in order of arrival; `each` may add to a row what else is known of its request. */
export function tableOf<Request extends MeasuredRequest>(
  requests: readonly Request[],
  each: (table: RequestTable, row: number, request: Request) => void = () => {},
): { table: RequestTable; ttftUs: Float64Array; e2eUs: Float64Array } {
  const ordered = [...requests].sort((a, b) => a.arrivalUs - b.arrivalUs);
  const table = new RequestTable(ordered.length);
  for (const request of ordered) {
    const row = table.append();
    table.arrivalUs[row] = request.arrivalUs;
    table.inputTokens[row] = request.inputTokens;
    table.outputTokens[row] = request.outputTokens;
    each(table, row, request);
  }
  return {
    table,
    ttftUs: Float64Array.from(ordered, ({ ttftUs }) => ttftUs),
    e2eUs: Float64Array.from(ordered, ({ e2eUs }) => e2eUs),
  };
}

/** The defaults of vLLM. */
export const VLLM = {
  blockSize: 16,
  longPrefillTokenThreshold: 0,
  scheduler: 'fcfs',
  preemptionPolicy: 'fcfs',
  engineRules: 'vllm-v1-async',
};
