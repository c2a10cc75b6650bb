import { describe, expect, it } from 'vitest';
import { DriftWatch } from './drift-watch.js';

const MINUTE = 60e6;

/** Requests every second; the truth is `slower` times what was predicted. */
class Minutes {
  readonly watch = new DriftWatch();
  nowUs = 0;
  readonly found: number[] = [];

  run(minutes: number, slower: number): this {
    for (let second = 0; second < 60 * minutes; second++) {
      this.nowUs += 1e6;
      this.watch.observe(0, 100_000, 100_000 * slower * (second % 2 === 0 ? 1.1 : 0.9), this.nowUs);
      this.watch.observe(1, 10_000, 10_000 * slower, this.nowUs);
      if (this.watch.review(this.nowUs) !== null) this.found.push(this.nowUs / MINUTE);
    }
    return this;
  }
}

describe('DriftWatch', () => {
  it('learns the usual error, and finds no drift while it stays', () => {
    const { found, watch } = new Minutes().run(60, 1);
    expect(found).toEqual([]);
    expect(watch.usual!.ttft).toBeCloseTo(0.1, 1);
    expect(watch.drift).toBeNull();
  });

  it('finds a drift once the error has doubled for ten minutes', () => {
    const { found, watch } = new Minutes().run(5, 1).run(30, 1.5);
    expect(found).toHaveLength(1);
    expect(found[0]).toBeGreaterThanOrEqual(15);
    expect(found[0]).toBeLessThan(17);
    expect(watch.drift).toMatchObject({ metric: 'itl' });
    expect(watch.drift!.ratio.itl).toBeCloseTo(1.5, 1);
    expect(watch.drift!.sinceUs / MINUTE).toBeCloseTo(5, 0);
  });

  it('finds an engine that is far slower where errors are large as a rule', () => {
    const watch = new DriftWatch();
    watch.reset({ ttft: 0.1, itl: 0.1, e2e: 0.6 });
    let found = null;
    for (let second = 0; second < 1200; second++) {
      watch.observe(0, 1e5, 1e5, second * 1e6);
      watch.observe(2, 1e6, 3e6, second * 1e6);
      found ??= watch.review(second * 1e6);
    }
    expect(found).toMatchObject({ metric: 'e2e', usual: 0.6 });
  });

  it('finds none in nine bad minutes, nor in bad minutes with good ones between them', () => {
    expect(new Minutes().run(5, 1).run(9, 1.5).run(20, 1).found).toEqual([]);
    const now = new Minutes().run(5, 1);
    for (let i = 0; i < 10; i++) now.run(6, 1.5).run(2, 1);
    expect(now.found).toEqual([]);
  });

  it('has errors that are too large pending before the ten minutes are over, from one minute on', () => {
    const pendingAfter = (minutes: number) => {
      const { nowUs, watch } = new Minutes().run(5, 1).run(minutes, 1.5);
      return watch.pending(nowUs);
    };
    expect(pendingAfter(0)).toBeNull();
    expect(pendingAfter(0.5)).toBeNull();
    expect(pendingAfter(4)).toMatchObject({ metric: 'itl', usual: 0.05 });
    expect(pendingAfter(4)!.sinceUs / MINUTE).toBeCloseTo(5, 0);
    expect(pendingAfter(4)!.ratio.itl).toBeCloseTo(1.5, 1);
    // It has been found already, or is over.
    expect(pendingAfter(15)).toBeNull();
    const { nowUs, watch } = new Minutes().run(5, 1).run(4, 1.5).run(3, 1);
    expect(watch.pending(nowUs)).toBeNull();
    const quiet = new Minutes().run(5, 1).run(4, 1.5);
    expect(quiet.watch.pending(quiet.nowUs + 3600e6)).toBeNull();
  });

  it('ends the drift when the error is as before', () => {
    const { watch } = new Minutes().run(5, 1).run(15, 1.5).run(3, 1);
    expect(watch.drift).toBeNull();
  });

  it('starts over with another profile, and takes its usual error where that is known', () => {
    const minutes = new Minutes().run(5, 1).run(15, 1.5);
    minutes.watch.reset({ ttft: 0.4, itl: 0.4, e2e: 0.4 });
    minutes.run(30, 1.5);
    expect(minutes.watch.drift).toBeNull();
    expect(minutes.found).toHaveLength(1);
  });

  it('does not count a quiet time as a bad one', () => {
    const minutes = new Minutes().run(5, 1).run(3, 1.5);
    minutes.nowUs += 3600e6;
    minutes.run(3, 1.5);
    expect(minutes.found).toEqual([]);
  });
});
