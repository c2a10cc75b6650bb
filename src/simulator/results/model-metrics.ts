import type { RequestOutcomes } from '../../replica/request-outcomes.js';
import type { RequestTable } from '../../workload/request-table.js';
import { byName } from '../by-name.js';
import type { ModelMetrics } from '../result-document.js';
import { meanAndTail, type RequestSampler, rowsByName } from './request-sample.js';

/** By model, sorted by name; undefined unless requests name several. @param served the model of requests that name none */
export function modelMetrics(
  table: RequestTable,
  outcomes: RequestOutcomes,
  sampler: RequestSampler,
  served: string,
): Record<string, ModelMetrics> | undefined {
  // The empty name is always there: requests of one model name it or none.
  if (table.models.size === 1) return undefined;
  const column = table.model.subarray(0, table.count);
  const all = rowsByName(column, table.models.size, (index) => table.models.name(index) || served);
  const groups = [...all].filter(([, rows]) => rows.length > 0);
  if (groups.length < 2) return undefined;
  const entries = groups.map(([name, rows]): [string, ModelMetrics] => {
    const { completed, e2eUs, ttftUs } = sampler.sample(rows);
    const itl = meanAndTail(sampler.sortedItlMeans(rows));
    return [
      name,
      {
        requests: rows.length,
        completed,
        input_tokens: sum(table.inputTokens, rows),
        output_tokens: sum(outcomes.producedTokens, rows),
        ttft: ttftUs,
        itl,
        e2e: e2eUs,
      },
    ];
  });
  return Object.fromEntries(entries.sort(byName));
}

function sum(column: Int32Array, rows: Int32Array): number {
  return rows.reduce((total, row) => total + column[row]!, 0);
}
