import { describe, expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { createFleetView } from '../fleet-view.js';
import { createRequestFeatures } from '../request-features.js';
import { tokenBucket } from './token-bucket.js';

function gateOf(capacity: number, refill_rate: number) {
  return tokenBucket.create({ capacity, refill_rate }, { random: randomStream(1, 'x'), replicas: 1 });
}

function bucket(capacity: number, refill_rate: number) {
  const gate = gateOf(capacity, refill_rate);
  const view = createFleetView(1);
  return (nowUs: number, inputTokens: number) => gate.refuse({ ...createRequestFeatures(1), nowUs, inputTokens }, view);
}

describe('token-bucket', () => {
  it('starts full and charges input tokens', () => {
    const ask = bucket(1000, 1000);
    expect(ask(0, 600)).toBeNull();
    expect(ask(0, 401)).toBe('insufficient tokens');
    expect(ask(0, 400)).toBeNull();
    expect(ask(0, 0)).toBeNull();
    expect(ask(0, 1)).toBe('insufficient tokens');
  });

  it('refills with time, to the microsecond', () => {
    const ask = bucket(1000, 1000);
    ask(0, 1000);
    expect(ask(99_999, 100)).toBe('insufficient tokens');
    expect(ask(100_000, 100)).toBeNull();
  });

  it('never holds more than its capacity', () => {
    const ask = bucket(1000, 1000);
    expect(ask(3600e6, 1001)).toBe('insufficient tokens');
    expect(ask(3600e6, 1000)).toBeNull();
  });

  it('gains nothing from a clock that stops or goes back', () => {
    const ask = bucket(1000, 1000);
    ask(1e6, 1000);
    expect(ask(1e6, 1)).toBe('insufficient tokens');
    expect(ask(0.5e6, 1)).toBe('insufficient tokens');
    expect(ask(1.001e6, 1)).toBeNull();
    expect(ask(1.001e6, 1)).toBe('insufficient tokens');
  });

  it('loses nothing to a clock that goes back', () => {
    const ask = bucket(1000, 1000);
    ask(1e6, 0);
    expect(ask(0.5e6, 1000)).toBeNull();
  });

  it('returns when there will be enough tokens, and Infinity when there never will be', () => {
    const gate = gateOf(1000, 500);
    const view = createFleetView(1);
    const request = { ...createRequestFeatures(1), inputTokens: 900 };
    expect(gate.refuse(request, view)).toBeNull();
    expect(gate.refuse(request, view)).toBe('insufficient tokens');
    expect(gate.retryAfterUs!(request)).toBe(1_600_001);
    expect(gate.refuse({ ...request, nowUs: 1_599_999 }, view)).toBe('insufficient tokens');
    expect(gate.refuse({ ...request, nowUs: 1_600_000 }, view)).toBeNull();
    expect(gate.retryAfterUs!({ ...request, inputTokens: 1001 })).toBe(Number.POSITIVE_INFINITY);
  });
});
