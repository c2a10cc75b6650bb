import { describe, expect, it } from 'vitest';
import { emptyShape } from './batch-shape.js';
import { fakeProfile } from './fake-profile.fixture.js';
import { shapeOf, whole } from './latency.contract.js';
import { engineLatency, notBefore, profileLatency } from './profile-latency.js';

const stepUs = profileLatency(fakeProfile()).stepUs;

describe('a step by a profile', () => {
  it('decode-only: its tokens, requests, contexts, and how uneven they are', () => {
    // 1000 + 10 per token beyond the first; 32 each; 0.5 per token of context; 2 x root of 4 x (40 - 25).
    expect(stepUs(shapeOf([], [10, 20, 30, 40]))).toBe(1030 + 4 * 32 + 0.5 * 100 + 2 * 2 * 15);
    expect(stepUs(shapeOf([], [25, 25, 25, 25]))).toBe(1030 + 4 * 32 + 0.5 * 100);
  });

  it('with prompts: those, and decoding next to them', () => {
    // 51 tokens in all: 2500. Attention of 49 tokens is 1225 pairs at 0.01, or 49 at 1: the larger counts.
    expect(stepUs(shapeOf([whole(49)], [10, 30]))).toBe(2500 + 3 * 32 + 49 + 16 + 2 * 8 + 0.25 * 40 + 4 * 10);
    // 1000 tokens are 500500 pairs.
    expect(stepUs(shapeOf([whole(1000)]))).toBe(11_990 + 32 + 5005 + 16);
  });

  it('counts less for context that requests share', () => {
    const shape = { ...shapeOf([], [100, 100]), heldTokens: 120 };
    expect(stepUs(shape)).toBe(1010 + 2 * 32 + 0.5 * (200 - 0.25 * 80));
  });

  it('waits for its launching when it is large', () => {
    const launch = { aboveTokens: 512, us: 20_000, firstUs: 700 };
    const launched = profileLatency(fakeProfile({ launch })).stepUs;
    const small = shapeOf([whole(512)]);
    const large = shapeOf([whole(513)]);
    expect(launched(small)).toBe(stepUs(small));
    // The host's time for the request is added.
    expect(launched(large)).toBeGreaterThanOrEqual(20_032);
    expect(launched(large)).toBeLessThan(20_232);
    // Far beyond it launching is hidden.
    const huge = shapeOf([whole(4000)]);
    expect(launched(huge)).toBe(stepUs(huge));
  });

  it('takes longer when a fresh engine launches this many tokens for the first time', () => {
    const costs = fakeProfile({ launch: { aboveTokens: 512, us: 0, firstUs: 700.4 } });
    const fresh = engineLatency(costs, 'fresh').stepUs;
    const large = shapeOf([whole(600)], [10]);
    expect([fresh(large), fresh(large)]).toEqual([stepUs(large) + 700, stepUs(large)]);
    // 601 tokens again, of other requests; then 602.
    expect(fresh(shapeOf([whole(601)]))).toBe(stepUs(shapeOf([whole(601)])));
    expect(fresh(shapeOf([whole(602)]))).toBe(stepUs(shapeOf([whole(602)])) + 700);
    const small = shapeOf([whole(512)]);
    expect(fresh(small)).toBe(stepUs(small));
    expect(engineLatency(costs).stepUs(large)).toBe(stepUs(large));
    expect(profileLatency(costs).stepUs(large)).toBe(stepUs(large));
    expect(engineLatency(fakeProfile(), 'fresh').stepUs(large)).toBe(stepUs(large));
  });

  it('has the host work for it, for its prompts and for their tokens', () => {
    const hosted = profileLatency(fakeProfile({ host: { stepUs: 100, promptUs: 10, promptTokenUs: 2 } })).stepUs;
    const decodes = shapeOf([], [10, 30]);
    expect(hosted(decodes)).toBe(stepUs(decodes) + 100);
    const mixed = shapeOf([whole(40), whole(9)], [10, 30]);
    expect(hosted(mixed)).toBe(stepUs(mixed) + 100 + 2 * 10 + 49 * 2);
  });

  it('of nothing takes a microsecond', () => {
    expect(stepUs(emptyShape())).toBe(1);
  });

  it('looks at single contexts, so the replica has to keep track of them', () => {
    const { readsContexts, queueingUs, outputTokenUs, postDecodeUs } = profileLatency(fakeProfile());
    expect([readsContexts, queueingUs, outputTokenUs, postDecodeUs]).toEqual([true, 100, 5, 7]);
  });
});

describe('a GPU that slows down under load', () => {
  // At full load, 10 us for each token, everything takes the GPU half as long again.
  const slowdown = { share: 0.5, tokenUs: 10, overUs: 50_000 };
  const costs = fakeProfile({ slowdown });
  const hostUs = 32;
  const large = shapeOf([whole(1000)]);
  const gpuUs = stepUs(large) - hostUs;

  it('takes longer for the same step, up to what nothing but such steps take', () => {
    const engine = engineLatency(costs);
    const first = engine.stepUs(large);
    const second = engine.stepUs(large);
    expect(first).toBe(stepUs(large));
    expect(second).toBeGreaterThan(first);
    for (let i = 0; i < 20; i++) engine.stepUs(large);
    const last = engine.stepUs(large);
    expect(engine.stepUs(large)).toBe(last);
    const load = (1000 * 10) / last;
    expect(Math.abs(last - (hostUs + gpuUs * (1 + 0.5 * load ** 2)))).toBeLessThanOrEqual(2);
    // Decoding for a while counts as idle.
    const decode = shapeOf([], [10]);
    for (let i = 0; i < 500; i++) engine.stepUs(decode);
    expect(engine.stepUs(large)).toBeLessThan(1.001 * first);
  });

  it('recovers while the engine has nothing to do, by how long that is', () => {
    const restedFor = (us: number) => {
      const engine = engineLatency(costs);
      const endUs = 1000 + engine.stepUs(large, 1000);
      return engine.stepUs(large, endUs + us);
    };
    const engine = engineLatency(costs);
    engine.stepUs(large);
    // Without a start time it starts right after the last.
    const atOnce = engine.stepUs(large);
    expect(restedFor(0)).toBe(atOnce);
    // Some engines start a step before they are done with the last requests of the one before.
    expect(restedFor(-500)).toBe(atOnce);
    expect(restedFor(20_000)).toBeLessThan(atOnce);
    expect(restedFor(40_000)).toBeLessThan(restedFor(20_000));
    expect(restedFor(1e6)).toBe(stepUs(large));
  });

  it('takes the same with or without start times, and is as fast as new after a long pause', () => {
    const [timed, untimed] = [engineLatency(costs), engineLatency(costs)];
    const fromUs = (startUs: number) => {
      const times: number[] = [];
      let atUs = startUs;
      for (let i = 0; i < 5; i++) {
        times.push(timed.stepUs(large, atUs));
        atUs += times.at(-1)!;
      }
      return times;
    };
    const times = fromUs(0);
    expect(times).toEqual(Array.from({ length: 5 }, () => untimed.stepUs(large)));
    expect(fromUs(1e9)).toEqual(times);
  });

  it('is separate for each engine, identified by the shape that it reuses', () => {
    const { stepUs: shared } = profileLatency(costs);
    const alone = engineLatency(costs).stepUs;
    const [one, other] = [{ ...large }, { ...large }];
    const times = [alone(large), alone(large), alone(large)];
    expect([shared(one), shared(one), shared(other), shared(one), shared(other)]).toEqual([
      times[0],
      times[1],
      times[0],
      times[2],
      times[1],
    ]);
  });

  it('has launched nothing when it is fresh, in each engine', () => {
    const { stepUs: shared } = profileLatency(
      fakeProfile({ launch: { aboveTokens: 512, us: 0, firstUs: 700 } }),
      'fresh',
    );
    const [one, other] = [{ ...large }, { ...large }];
    const first = stepUs(large) + 700;
    expect([shared(one), shared(one), shared(other), shared(one)]).toEqual([first, first - 700, first, first - 700]);
  });

  it('does not slow down the host that launches', () => {
    const launched = engineLatency(fakeProfile({ slowdown, launch: { aboveTokens: 512, us: 1e6, firstUs: 0 } }));
    const first = launched.stepUs(large);
    expect(launched.stepUs(large)).toBe(first);
  });
});

describe('notBefore', () => {
  it('is the later of the two where they are apart, and a little more where they are close', () => {
    expect(notBefore(0, 500)).toBe(500);
    expect(notBefore(1000, 5000)).toBeCloseTo(5000, 6);
    expect(notBefore(1000, 1000)).toBeCloseTo(1000 + 100 * Math.LN2, 9);
    expect(notBefore(1000, 0)).toBeCloseTo(1000, 1);
  });
});
