import { describe, expect, it } from 'vitest';
import { tierShed } from './admission/tier-shed.js';
import { policyOptions } from './policy-options.js';
import { predictedLatency } from './routing/predicted-latency.js';
import { roundRobin } from './routing/round-robin.js';
import { DEFAULT_SCORERS, weighted } from './routing/weighted.js';

function failure(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('policyOptions', () => {
  it('fills in defaults', () => {
    expect(policyOptions(tierShed, { threshold: 4 }, 'test')).toEqual({ threshold: 4, min_priority: 0 });
    expect(policyOptions(weighted, {}, 'test')).toEqual({
      scorers: DEFAULT_SCORERS,
      tie_break: 'first',
      block_size: 0,
    });
  });

  it('names an option that does not exist and suggests the nearest', () => {
    expect(failure(() => policyOptions(tierShed, { treshold: 4 }, 'bundle.yaml:2'))).toMatchObject({
      code: 'UNKNOWN_POLICY_OPTION',
      place: 'bundle.yaml:2',
      problem: "'tier-shed' has no option 'treshold'",
      hint: "did you mean 'threshold'? known: threshold, min_priority",
    });
    expect(failure(() => policyOptions(roundRobin, { speed: 4 }, '--policy-options'))).toMatchObject({
      code: 'UNKNOWN_POLICY_OPTION',
      hint: 'it takes no options',
    });
  });

  it('names the field of a bad value', () => {
    expect(failure(() => policyOptions(tierShed, { threshold: 'high' }, '--policy-options'))).toMatchObject({
      code: 'BAD_POLICY_OPTION',
      place: '--policy-options (threshold)',
      hint: "'tier-shed' takes: threshold, min_priority",
    });
    expect(failure(() => policyOptions(tierShed, { threshold: -1 }, 'x'))).toMatchObject({
      place: 'x (threshold)',
      problem: '-1 is too small: give a number of at least 0',
    });
    expect(failure(() => policyOptions(weighted, { tie_break: 'last' }, 'x'))).toMatchObject({
      place: 'x (tie_break)',
      problem: "unknown value 'last': known: first, random",
    });
    expect(failure(() => policyOptions(weighted, { scorers: [{ name: 'queue-depth', wait: 1 }] }, 'x'))).toMatchObject({
      place: 'x (scorers)',
    });
    expect(failure(() => policyOptions(predictedLatency, { slo: { batch: { ttft: 5 } } }, 'x'))).toMatchObject({
      place: 'x (slo.batch.ttft)',
      problem: "unknown key 'ttft': known: ttft_ms, tpot_ms",
    });
    expect(failure(() => policyOptions(weighted, { scorers: 3 }, 'x'))).toMatchObject({
      place: 'x (scorers)',
      problem: expect.stringContaining('must be text like'),
    });
    expect(failure(() => policyOptions(weighted, { scorers: 'queue-dept:1' }, 'x'))).toMatchObject({
      place: 'x (scorers)',
      problem: expect.stringContaining("did you mean 'queue-depth'?"),
    });
  });

  it('refuses options that are not an object', () => {
    expect(failure(() => policyOptions(roundRobin, 7, 'x'))).toMatchObject({
      code: 'BAD_POLICY_OPTION',
      place: 'x',
      hint: "'round-robin' takes no options",
    });
  });
});
