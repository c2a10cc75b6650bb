import { OBSERVED_OUTCOMES, type Observed } from '../../../workload/observed.js';
import type { RequestTable } from '../../../workload/request-table.js';

/** No engine generates tokens of one response faster. */
const LEAST_GAP_US = 100;
const OK = OBSERVED_OUTCOMES.indexOf('ok');

/**
 * Forgets the first token of responses that were not streamed: it was recorded with the last one, and says nothing about the engine.
 * A recording does not say which were: their tokens arrive together.
 * @returns how many there are
 */
export function forgetUnstreamed({ observed, table }: { observed: Observed; table: RequestTable }): number {
  const { e2eUs, outcome, ttftUs } = observed;
  let count = 0;
  for (let row = 0; row < table.count; row++) {
    const gaps = table.outputTokens[row]! - 1;
    if (outcome[row] !== OK || gaps < 1 || !(e2eUs[row]! - ttftUs[row]! < LEAST_GAP_US * gaps)) continue;
    ttftUs[row] = Number.NaN;
    count++;
  }
  return count;
}
