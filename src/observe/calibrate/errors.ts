import { InputError } from '../../kernel/errors.js';

/** Every InputError of the comparison, by what went wrong. Codes are stable. */

/** A trace without response times. */
export function traceNotMeasured(place: string, requests: number): InputError {
  const problem = `none of ${requests} requests has a response time`;
  const hint = "give a trace that 'observe' or a gateway recorded, or one of 'run --trace-output'";
  return new InputError('TRACE_NOT_MEASURED', place, problem, hint);
}

/** Something in a file of results that cannot be what it is meant to be. */
export function resultsInvalid(place: string, problem: string, hint: string): InputError {
  return new InputError('RESULTS_INVALID', place, problem, hint);
}

/** @param found a few ids of either side */
export function nothingMatches(
  place: string,
  counts: { measured: number; predicted: number },
  found: { measured: string; predicted: string },
): InputError {
  const problem = `none of its ${counts.predicted} requests (${found.predicted}) is among the ${counts.measured} of the trace (${found.measured})`;
  return new InputError('RESULTS_OF_ANOTHER_TRACE', place, problem, 'replay this very trace with --results-path');
}

/** @param examples a few requests with their lengths on both sides */
export function lengthsDiffer(place: string, differ: number, matched: number, examples: string): InputError {
  const problem = `${differ} of ${matched} requests have other lengths than in the trace: ${examples}`;
  return new InputError('RESULTS_OF_ANOTHER_TRACE', place, problem, 'replay this very trace with --results-path');
}

/** All requests that are on both sides lack a time on one of them. */
export function nothingToJudge(place: string, problem: string, hint: string): InputError {
  return new InputError('NOTHING_TO_JUDGE', place, problem, hint);
}

/** Times of single chunks. */
export function chunkTimesInvalid(place: string, problem: string, hint: string): InputError {
  return new InputError('CHUNK_TIMES_INVALID', place, problem, hint);
}
