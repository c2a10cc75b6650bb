import { type RequestOutcomes, STATUS } from '../../replica/request-outcomes.js';
import type { TraceOutcomes } from '../../workload/trace-v2/write.js';

/** What a written trace says of each request. */
export function traceOutcomes(outcomes: RequestOutcomes): TraceOutcomes {
  return {
    ttftUs: outcomes.ttftUs,
    itlSumUs: outcomes.itlSumUs,
    status(row) {
      const status = outcomes.status[row]!;
      if (status === STATUS.completed || status === STATUS.length_capped) return 'ok';
      return status === STATUS.timed_out ? 'timeout' : 'incomplete';
    },
  };
}
