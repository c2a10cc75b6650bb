import type { MeasuredRequest, PredictedRequest } from '../measured-request.js';

/** Requests of one side that ended without a complete response. */
export interface SideFailures {
  failed: number;
  /** Of all compared requests. */
  share: number;
  timed_out: number;
  /** Refused, shed, broken off. */
  other: number;
}

/** Failures of requests that are on both sides. Latencies are those of the others. */
export interface FailureComparison {
  requests: number;
  real: SideFailures;
  sim: SideFailures;
  /** Failed on both sides. */
  both: number;
}

/** Statuses of a simulated request with its whole response, too late, and still under way at the end of the simulation. */
const COMPLETE = ['completed', 'length_capped'];
const TIMED_OUT: readonly (string | null)[] = ['timed_out', 'gateway_expired'];
const UNFINISHED = ['not_arrived', 'in_pipeline', 'queued', 'running', 'gateway_queued'];
/** Shares that differ by more make two different groups of survivors. */
const DIFFERENT = 0.01;

export function compareFailures(
  both: readonly (readonly [measured: MeasuredRequest, predicted: PredictedRequest])[],
): FailureComparison {
  const requests = both.length;
  const side = (failed: readonly { timedOut: boolean }[]): SideFailures => {
    const timedOut = failed.filter((one) => one.timedOut).length;
    const share = requests === 0 ? 0 : failed.length / requests;
    return { failed: failed.length, share, timed_out: timedOut, other: failed.length - timedOut };
  };
  return {
    requests,
    real: side(both.filter(([measured]) => hasFailed(measured)).map(([{ timedOut }]) => ({ timedOut }))),
    sim: side(
      both
        .filter(([, predicted]) => isPredictedToFail(predicted))
        .map(([, { status }]) => ({ timedOut: TIMED_OUT.includes(status) })),
    ),
    both: both.filter(([measured, predicted]) => hasFailed(measured) && isPredictedToFail(predicted)).length,
  };
}

/** A sentence where one side lost a different share of its requests; null where they agree. */
export function failureNote({ real, requests, sim }: FailureComparison): string | null {
  if (Math.abs(real.share - sim.share) <= DIFFERENT) return null;
  const of = (side: SideFailures) => `${(side.share * 100).toFixed(1)} % (${side.failed} of ${requests})`;
  return `failed requests: ${of(real)} measured, ${of(sim)} predicted; latencies are those of requests with a response on both sides`;
}

function hasFailed({ completed, e2eUs }: MeasuredRequest): boolean {
  return !completed || Number.isNaN(e2eUs);
}

function isPredictedToFail({ e2eUs, status }: PredictedRequest): boolean {
  if (status === null) return Number.isNaN(e2eUs);
  return !COMPLETE.includes(status) && !UNFINISHED.includes(status);
}
