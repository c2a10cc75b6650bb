import { type FakeRequest, fakeTable } from '../../replica/fake-replica.fixture.js';
import { RequestOutcomes, type RequestStatus, STATUS } from '../../replica/request-outcomes.js';

/** A request and its outcome, in microseconds. */
export interface FakeOutcome extends Partial<FakeRequest> {
  status?: RequestStatus;
  instance?: number;
  delay?: number;
  ttft?: number;
  e2e?: number;
  itlSum?: number;
  tokens?: number;
}

/**
 * Results as a simulation would leave them; a request with an end-to-end time is completed unless it says otherwise.
 */
export function fakeOutcomes(list: readonly FakeOutcome[]) {
  const table = fakeTable(list.map((one) => ({ input: 1, ...one })));
  const outcomes = new RequestOutcomes(list.length);
  for (const [row, one] of list.entries()) {
    outcomes.status[row] = STATUS[one.status ?? (one.e2e === undefined ? 'running' : 'completed')];
    outcomes.instance[row] = one.instance ?? 0;
    if (one.delay !== undefined) outcomes.schedulingDelayUs[row] = one.delay;
    if (one.ttft !== undefined) outcomes.ttftUs[row] = one.ttft;
    if (one.e2e !== undefined) outcomes.e2eUs[row] = one.e2e;
    outcomes.itlSumUs[row] = one.itlSum ?? 0;
    outcomes.producedTokens[row] = one.tokens ?? 1;
  }
  return { table, outcomes };
}
