import { describe, expect, it } from 'vitest';
import { createExplanation } from '../../explanation.js';
import type { LatencyPredictor, PredictedLoad } from '../../latency-predictor.js';
import { PolicyHost } from '../policy-host.js';
import { OPEN_ADMISSION } from '../policy-settings.js';
import { LIVE } from '../worlds.js';

/*
 * What `predicted-latency` makes of a fleet over many requests, with and without profiles. Requests arrive every 10 ms and take a
 * second, so that a hundred are in flight.
 */
const REPLICAS = 4;
const BLOCK = 16;
const EVERY_US = 10_000;
const LASTS = 100;

/** An engine whose steps take 10 ms and 0.2 ms for each request, and 20 us for each token of a prompt. */
class StepTimes implements LatencyPredictor {
  ttftUs = 0;
  itlUs = 0;
  promptUs = 0;

  predict(_input: number, uncached: number, load: PredictedLoad): void {
    this.itlUs = 10_000 + 200 * (load.decoding + load.prefilling);
    this.promptUs = 20 * uncached;
    this.ttftUs = this.itlUs / 2 + this.promptUs + 20 * load.pendingPrefillTokens;
  }
}

interface Traffic {
  requests: number;
  /** Replicas whose speed is known. */
  known: readonly string[];
  /** A replica that takes requests and returns nothing. */
  hangs?: number;
  /** Blocks that all prompts share, and those of each alone. */
  shared: number;
  own: number;
}

/** Requests by replica, and the rules by which they were placed. */
function serve({ hangs = -1, known, own, requests, shared }: Traffic) {
  const ids = Array.from({ length: REPLICAS }, (_, i) => `r${i}`);
  const speeds = new Map(known.map((id) => [id, new StepTimes()]));
  const routing = { policy: 'predicted-latency', options: {} };
  const settings = { ...OPEN_ADMISSION, routing, blockSize: BLOCK, cacheBlocks: 10_000 };
  const options = { world: LIVE, seed: 1, mostReplicas: REPLICAS, allBooks: true };
  const host = new PolicyHost(settings, { ...options, predictors: (id) => speeds.get(id) ?? null });
  host.setReplicas(ids);
  const counts = ids.map(() => 0);
  const rules = new Set<string>();
  const placed: number[] = [];
  for (let i = 0; i < requests; i++) {
    const nowUs = i * EVERY_US;
    const ended = i - LASTS;
    if (ended >= 0 && placed[ended] !== hangs) host.finished(ended, nowUs, 50);
    if (i > 1 && placed[i - 2] !== hangs) host.firstToken(i - 2, nowUs);
    const blocks = Int32Array.from({ length: shared + own }, (_, b) => (b < shared ? b : 1000 + i * own + b));
    host.describe(nowUs, BLOCK * blocks.length, host.priorities.classOf(''), -1, '');
    Object.assign(host.features, { blocks, blockCount: blocks.length });
    const why = i % 20 === 0 ? createExplanation(REPLICAS) : undefined;
    const replica = host.pick(why);
    if (why !== undefined) rules.add(why.rule);
    host.placed(i, replica);
    placed.push(replica);
    counts[replica]!++;
  }
  return { counts, rules: [...rules] };
}

const ALL = ['r0', 'r1', 'r2', 'r3'];
const LONG_PREFIX = { requests: 600, shared: 128, own: 4 };
const NO_PREFIX = { requests: 600, shared: 0, own: 16 };
const FALLBACK = 'no latency profile: least prompt work times requests in flight';

describe('one hot prefix', () => {
  it.each([
    ['with profiles', ALL],
    ['without profiles', []],
  ])('is served by several replicas, %s', (_, known) => {
    const { counts } = serve({ ...LONG_PREFIX, known });
    expect(Math.max(...counts)).toBeLessThan(0.5 * LONG_PREFIX.requests);
    expect(counts.filter((count) => count > 0).length).toBeGreaterThan(2);
  });
});

describe('a replica that hangs', () => {
  it.each([
    ['with profiles', ALL],
    ['without profiles', []],
  ])('gets a small share of the requests, %s', (_, known) => {
    const { counts } = serve({ ...NO_PREFIX, known, hangs: 1 });
    expect(counts[1]).toBeLessThan(0.1 * NO_PREFIX.requests);
  });
});

describe('a replica whose speed is not known among others', () => {
  it('makes the counts of the router decide for all, and says so', () => {
    const { counts, rules } = serve({ ...NO_PREFIX, known: ['r0', 'r2', 'r3'] });
    expect(rules).toEqual([FALLBACK]);
    for (const count of counts) expect(count).toBeGreaterThan(0.2 * NO_PREFIX.requests);
  });
});
