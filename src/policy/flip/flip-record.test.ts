import { expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { createExplanation } from '../explanation.js';
import { createFleetView } from '../fleet-view.js';
import { policyOptions } from '../policy-options.js';
import { createRequestFeatures } from '../request-features.js';
import { predictedLatency } from '../routing/predicted-latency.js';
import { findFlip } from './find-flip.js';
import { flipRecord } from './flip-record.js';
import { Repicker } from './repicker.js';

/** One replica, a target of 300 ms, and a policy that refuses what misses it. */
function flipAt(ttftMs: number) {
  const options = policyOptions(predictedLatency, { shed: true }, 'test') as Parameters<
    typeof predictedLatency.create
  >[0];
  const random = randomStream(1, 'routing');
  const picker = predictedLatency.create(options, { random, replicas: 1 });
  const view = createFleetView(1);
  const request = { ...createRequestFeatures(1), sloTtftUs: 300_000, priority: -1 };
  request.predictions.ttftUs[0] = 1000 * ttftMs;
  request.predictions.itlUs[0] = 1;
  request.predictions.promptUs[0] = 1;
  const why = createExplanation(1);
  const chosen = picker.pick(request, view, why);
  const pick = { reads: predictedLatency.reads(options), request, view, state: why.state, chosen };
  return flipRecord(findFlip(pick, new Repicker(picker, random, 1)), ['a'])!.change;
}

it('says that a change leads to a refusal, and what would have let a refused request in', () => {
  expect(flipAt(290)).toEqual({ replica: 'a', signal: 'predictedTtftUs', from: 290_000, to: 301_000, chosen: null });
  expect(flipAt(320)).toEqual({ replica: 'a', signal: 'predictedTtftUs', from: 320_000, to: 300_000, chosen: 'a' });
});
