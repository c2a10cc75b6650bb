import { describe, expect, it } from 'vitest';
import { CORRECTION, type LatencyPredictor, type PredictedLoad } from '../../latency-predictor.js';
import { createRequestFeatures } from '../../request-features.js';
import { PolicyHost } from '../policy-host.js';
import { OPEN_ADMISSION } from '../policy-settings.js';
import { LIVE } from '../worlds.js';
import { LOAD_NUMBERS } from './saved-load.js';

const MS = 1000;

/** Says 10 ms for each request on the replica and 1 ms for each token to compute, and remembers what it was asked. */
class FakePredictor implements LatencyPredictor {
  ttftUs = 0;
  itlUs = 0;
  promptUs = 0;
  loads: PredictedLoad[] = [];

  predict(_inputTokens: number, uncachedTokens: number, load: PredictedLoad): void {
    this.loads.push({ ...load });
    this.promptUs = uncachedTokens * MS;
    this.ttftUs = 10 * MS * (load.decoding + load.prefilling) + this.promptUs + load.pendingPrefillTokens * MS;
    this.itlUs = 10 * MS;
  }

  get last(): PredictedLoad {
    return this.loads.at(-1)!;
  }
}

function hostOf(ids: string[], speeds: Record<string, FakePredictor>) {
  const settings = {
    ...OPEN_ADMISSION,
    routing: { policy: 'round-robin', options: {} },
    blockSize: 16,
    cacheBlocks: 100,
  };
  const options = { world: LIVE, seed: 1, mostReplicas: 4, allBooks: true };
  const host = new PolicyHost(settings, { ...options, predictors: (id) => speeds[id] ?? null });
  host.setReplicas(ids);
  return host;
}

function arrive(host: PolicyHost, nowUs: number, tokens = 8): void {
  host.describe(nowUs, tokens, host.priorities.classOf(''), -1, '');
  Object.assign(host.features, { blocks: Int32Array.of(), blockCount: 0 });
  host.pick();
  host.prediction.predict();
}

describe('HostedPrediction', () => {
  it('predicts for replicas whose speed is known, and NaN for others', () => {
    const host = hostOf(['a', 'b'], { a: new FakePredictor() });
    arrive(host, 0);
    const { itlUs, promptUs, ttftUs } = host.features.predictions;
    expect([ttftUs[0], itlUs[0], promptUs[0]]).toEqual([8 * MS, 10 * MS, 8 * MS]);
    expect([ttftUs[1], itlUs[1], promptUs[1]]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    expect(host.prediction.isUsed).toBe(true);
    expect(hostOf(['a'], {}).prediction.isUsed).toBe(false);
  });

  it('counts prompts until their first token, and how long the first has been computed', () => {
    const a = new FakePredictor();
    const host = hostOf(['a'], { a });
    for (let i = 0; i < 3; i++) {
      arrive(host, 100 * i);
      host.placed(i, 0);
    }
    arrive(host, 1000);
    expect(a.last).toMatchObject({ decoding: 0, prefilling: 3, pendingPrefillTokens: 24, prefillElapsedUs: 1000 });
    host.firstToken(0, 5000);
    host.firstToken(0, 6000);
    host.finished(1, 7000);
    arrive(host, 9000);
    expect(a.last).toMatchObject({ decoding: 1, prefilling: 1, pendingPrefillTokens: 8, prefillElapsedUs: 2000 });
    host.finished(0, 25_000, 5);
    host.finished(2, 26_000);
    arrive(host, 27_000);
    expect(a.last).toMatchObject({ decoding: 0, prefilling: 0, pendingPrefillTokens: 0, prefillElapsedUs: 0 });
    expect(a.last.decodeUs).toBe(20_000);
  });

  it('predicts for a copied request from the loads of its time, when the books have moved on', () => {
    const [a, b] = [new FakePredictor(), new FakePredictor()];
    const host = hostOf(['a', 'b'], { a, b });
    for (const i of [0, 1, 2]) {
      arrive(host, 100 * i);
      host.placed(i, i % 2);
    }
    arrive(host, 1000);
    const expected = [a.last, b.last];
    const saved = new Float64Array(3 + 2 * LOAD_NUMBERS);
    expect(host.prediction.saveLoads(saved, 3)).toBe(saved.length);
    const copy = createRequestFeatures(2);
    copy.inputTokens = host.features.inputTokens;
    const predicted = Array.from(host.features.predictions.ttftUs.slice(0, 2));
    host.firstToken(0, 1500);
    host.finished(1, 2000);
    arrive(host, 3000);
    host.placed(3, 1);
    for (const slot of [0, 1]) host.prediction.predictSaved(slot, copy, saved, 3);
    expect([a.last, b.last]).toEqual(expected);
    expect(Array.from(copy.predictions.ttftUs)).toEqual(predicted);
  });

  it('adds prompts that were not placed here, where a world says so', () => {
    const a = new FakePredictor();
    const host = hostOf(['a'], { a });
    arrive(host, 0);
    host.placed(0, 0);
    host.view.inFlight[0] = 6;
    host.prediction.otherPrompts = {
      prefilling: Float64Array.of(2),
      pendingTokens: Float64Array.of(100),
      elapsedUs: Float64Array.of(700),
    };
    arrive(host, 500);
    expect(a.last).toMatchObject({ decoding: 3, prefilling: 3, pendingPrefillTokens: 108, prefillElapsedUs: 700 });
    arrive(host, 900);
    expect(a.last.prefillElapsedUs).toBe(900);
  });

  it('counts a request whose first token is not seen as one that decodes', () => {
    const a = new FakePredictor();
    const host = hostOf(['a'], { a });
    arrive(host, 0);
    host.placed(0, 0, false);
    arrive(host, 50_000);
    expect(a.last).toMatchObject({ decoding: 1, prefilling: 0, pendingPrefillTokens: 0, prefillElapsedUs: 0 });
    host.firstToken(0, 100_000);
    host.finished(0, 108_000);
    arrive(host, 200_000);
    // Its first token is taken to have come when it was predicted: after 8 ms.
    expect(a.last.decodeUs).toBe(100_000);
  });

  it('remembers what was predicted for a request, and corrects by what it took', () => {
    const host = hostOf(['a', 'b'], { a: new FakePredictor(), b: new FakePredictor() });
    for (let i = 0; i < 60; i++) {
      const nowUs = i * 1_000_000;
      arrive(host, nowUs);
      host.placed(0, 0);
      host.firstToken(0, nowUs + 16 * MS);
      host.finished(0, nowUs + 16 * MS + 4 * 30 * MS, 5);
    }
    arrive(host, 1e9);
    const { correction, factor, itlUs, ttftUs } = host.features.predictions;
    expect(ttftUs[0]! / MS).toBeCloseTo(16, 0);
    expect(factor[0]).toBeCloseTo(2, 1);
    expect(itlUs[0]! / MS).toBeCloseTo(30, 0);
    expect([correction[0], correction[1]]).toEqual([CORRECTION.applied, CORRECTION.none]);
    expect(ttftUs[1]).toBe(8 * MS);
    host.placed(0, 0);
    expect(host.prediction.ttftUsOf(0)).toBe(ttftUs[0]);
    expect(host.prediction.itlUsOf(0)).toBe(itlUs[0]);
    expect(host.prediction.ttftUsOf(77)).toBeNaN();
  });

  it('learns nothing of a first token whose time is unknown', () => {
    const host = hostOf(['a'], { a: new FakePredictor() });
    for (let i = 0; i < 60; i++) {
      arrive(host, 0);
      host.placed(0, 0);
      host.firstToken(0);
      host.finished(0);
    }
    arrive(host, 5);
    expect(host.features.predictions.ttftUs[0]).toBe(8 * MS);
  });

  it('counts requests of other routers by what replicas report on average', () => {
    const a = new FakePredictor();
    const host = hostOf(['a', 'b'], { a, b: new FakePredictor() });
    host.view.running[0] = 6;
    for (let i = 0; i < 200; i++) {
      arrive(host, i);
      host.placed(1, 1);
      host.finished(1, i);
    }
    arrive(host, 300);
    expect(a.last.decoding).toBeCloseTo(6, 1);
  });

  it('keeps what it knows of replicas that move, and forgets those that leave or get another speed', () => {
    const speeds: Record<string, FakePredictor> = { a: new FakePredictor(), b: new FakePredictor() };
    const host = hostOf(['a', 'b'], speeds);
    for (let i = 0; i < 40; i++) {
      arrive(host, 0);
      host.placed(0, 0);
      host.firstToken(0, 16 * MS);
    }
    arrive(host, 0);
    host.placed(1, 0);
    host.setReplicas(['c', 'a']);
    arrive(host, 0);
    expect(host.features.predictions.ttftUs[0]).toBeNaN();
    expect(speeds.a!.last).toMatchObject({ prefilling: 1, decoding: 1 });
    expect(host.features.predictions.factor[1]).not.toBe(1);
    speeds.a = new FakePredictor();
    host.prediction.refresh();
    arrive(host, 0);
    expect(host.features.predictions.factor[1]).toBe(1);
    host.setReplicas(['c']);
    host.firstToken(1, 5);
    host.finished(1, 6);
    expect(host.prediction.isUsed).toBe(false);
  });
});
