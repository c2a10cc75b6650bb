import { type Repeatability, repeatabilityOf } from './compare/repeatability.js';
import { nothingToJudge } from './errors.js';
import type { MeasuredRequest } from './measured-request.js';

/** Fewer requests on both sides say nothing of how a run repeats itself. */
const LEAST = 20;

/** What two measurements of the same requests differ, by metric. @param place the file of the second, for errors */
export function readRepeat(
  first: readonly MeasuredRequest[],
  second: readonly MeasuredRequest[],
  place: string,
): Partial<Record<'ttft' | 'e2e' | 'itl', Repeatability>> {
  const byId = new Map(second.filter(isWhole).map((one) => [one.id, one]));
  const pairs = first.filter((one) => isWhole(one) && byId.get(one.id)?.outputTokens === one.outputTokens);
  if (pairs.length < LEAST) {
    const problem = `${pairs.length} of ${first.length} requests have a complete response of the same length in both measurements, ${LEAST} are needed`;
    throw nothingToJudge(place, problem, 'give a second observation of the same requests');
  }
  const both = (value: (one: MeasuredRequest) => number): [Float64Array, Float64Array] => [
    Float64Array.from(pairs, value),
    Float64Array.from(pairs, ({ id }) => value(byId.get(id)!)),
  ];
  const several = pairs.filter(({ outputTokens }) => outputTokens > 1);
  const gap = ({ e2eUs, outputTokens, ttftUs }: MeasuredRequest) => (e2eUs - ttftUs) / (outputTokens - 1);
  const gaps = [several, several.map(({ id }) => byId.get(id)!)].map((side) => Float64Array.from(side, gap));
  return {
    ttft: repeatabilityOf(...both(({ ttftUs }) => ttftUs)),
    e2e: repeatabilityOf(...both(({ e2eUs }) => e2eUs)),
    ...(several.length < LEAST ? {} : { itl: repeatabilityOf(gaps[0]!, gaps[1]!) }),
  };
}

function isWhole({ completed, e2eUs, ttftUs }: MeasuredRequest): boolean {
  return completed && ttftUs >= 0 && e2eUs >= 0;
}
