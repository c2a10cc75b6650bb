import { describe, expect, it } from 'vitest';
import type { PredictedLoad } from '../../../policy/latency-predictor.js';
import { fakeConfig, fakeLatency } from '../../fake-replica.fixture.js';
import { fakeProfile } from '../fake-profile.fixture.js';
import { modelPredictor, profilePredictor } from './engine-predictor.js';
import { StepPredictor } from './step-predictor.js';

const IDLE: PredictedLoad = {
  decoding: 0,
  decodeTokens: 0,
  prefilling: 0,
  pendingPrefillTokens: 0,
  prefillElapsedUs: 0,
  kvUsed: 0,
  decodeUs: 0,
};
const ENGINE = { queueingUs: 100, maxNumSeqs: 8, maxNumBatchedTokens: 500, kvTokens: 10_000 };

/** Steps take 1 ms, 10 us for each token of a prompt and 100 us for each request that decodes. */
const predictor = new StepPredictor(({ decodes, prefillTokens }) => 1000 + 10 * prefillTokens + 100 * decodes, ENGINE);

function predicted(input: number, uncached: number, load: Partial<PredictedLoad> = {}) {
  predictor.predict(input, uncached, { ...IDLE, ...load });
  const { itlUs, promptUs, ttftUs } = predictor;
  return { ttftUs, itlUs, promptUs };
}

describe('StepPredictor', () => {
  it('is the time of its own prompt on an idle replica', () => {
    expect(predicted(300, 300)).toEqual({ ttftUs: 100 + 4000, itlUs: 1100, promptUs: 4000 });
  });

  it('computes only what is not cached, and at least a token', () => {
    expect(predicted(300, 100).ttftUs).toBe(100 + 2000);
    expect(predicted(300, 0).ttftUs).toBe(100 + 1010);
  });

  it('computes long prompts in chunks', () => {
    expect(predicted(1200, 1200).ttftUs).toBe(100 + 3 * 1000 + 12_000);
  });

  it('waits for prompts that came before, less what is done of them', () => {
    const load = { prefilling: 2, pendingPrefillTokens: 400 };
    const waitedUs = predicted(50, 50, load).ttftUs;
    expect(waitedUs).toBeGreaterThan(predicted(50, 50).ttftUs + 4000 - 1);
    expect(predicted(50, 50, { ...load, prefillElapsedUs: 1500 }).ttftUs).toBe(waitedUs - 1500);
  });

  it('expects a prompt that is late to be later still: a replica that hangs looks worse and worse', () => {
    const load = { prefilling: 1, pendingPrefillTokens: 100 };
    const [onTime, late, hung] = [2000, 4000, 60_000].map(
      (prefillElapsedUs) => predicted(50, 50, { ...load, prefillElapsedUs }).ttftUs,
    );
    expect(late! - onTime!).toBe(2000);
    expect(hung! - late!).toBe(56_000);
  });

  it('is slower next to requests that decode', () => {
    const { itlUs, ttftUs } = predicted(300, 300, { decoding: 4, decodeTokens: 1000 });
    // Half a step until it gets its turn, and each of its own has the others in it.
    expect(ttftUs).toBe(100 + 700 + 4000 + 400);
    expect(itlUs).toBe(1000 + 500);
  });

  it('waits for a seat as long as requests take to end', () => {
    const full = { decoding: 8, decodeTokens: 1000, decodeUs: 800_000 };
    expect(predicted(10, 10, full).ttftUs).toBeGreaterThan(100_000);
    expect(predicted(10, 10, { ...full, decoding: 7 }).ttftUs).toBeLessThan(10_000);
    expect(predicted(10, 10, { ...full, decoding: 16 }).ttftUs).toBeGreaterThan(900_000);
    // No request has ended yet: nothing is known of the wait.
    expect(predicted(10, 10, { ...full, decodeUs: 0 }).ttftUs).toBeLessThan(10_000);
  });

  it('waits for memory', () => {
    const load = { decoding: 2, decodeTokens: 9000, kvUsed: 0.95, decodeUs: 1_000_000 };
    expect(predicted(2000, 2000, load).ttftUs).toBeGreaterThan(100_000);
    expect(predicted(400, 400, load).ttftUs).toBeLessThan(50_000);
  });
});

describe('predictors of engines', () => {
  const load = { ...IDLE, decoding: 3, decodeTokens: 300 };

  it('predict with the step times of a profile, however often they are asked', () => {
    const profiled = profilePredictor(fakeProfile({ slowdown: { share: 0.5, tokenUs: 1, overUs: 1000 } }));
    const ask = () => {
      profiled.predict(100, 60, load);
      return [profiled.ttftUs, profiled.itlUs];
    };
    const first = ask();
    for (let i = 0; i < 100; i++) ask();
    expect(ask()).toEqual(first);
    expect(first.every((us) => us > 1000)).toBe(true);
  });

  it('scale with the factor of a slower replica', () => {
    const replica = fakeConfig({ maxNumSeqs: 4 });
    const plain = modelPredictor(fakeLatency(), replica);
    const slow = modelPredictor(fakeLatency(), replica, 2.5);
    plain.predict(8, 8, load);
    slow.predict(8, 8, load);
    expect(slow.itlUs).toBeCloseTo(2.5 * plain.itlUs, 6);
    expect(slow.ttftUs).toBeGreaterThan(2 * plain.ttftUs);
  });

  it('use the profile of a simulated replica that has one', () => {
    const measured = modelPredictor(fakeLatency(), fakeConfig({ latencyProfile: fakeProfile() }));
    measured.predict(8, 8, load);
    expect(measured.itlUs).toBeGreaterThan(1000);
  });
});
