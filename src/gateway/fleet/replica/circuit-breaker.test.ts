import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.js';

const breakerOf = (failures: number, openMs: number) => new CircuitBreaker({ failures, openMs });

/** Opened at 0 by requests 0 to failures - 1, all gone. */
function opened(failures = 2, openMs = 100): CircuitBreaker {
  const breaker = breakerOf(failures, openMs);
  for (let request = 0; request < failures; request++) {
    breaker.placed(request);
    breaker.failed(request, 0);
    breaker.released(request);
  }
  return breaker;
}

describe('CircuitBreaker', () => {
  it('opens after failures in a row, and not before', () => {
    const breaker = breakerOf(3, 100);
    for (const request of [0, 1]) breaker.failed(request, 0);
    breaker.succeeded(2);
    for (const request of [3, 4]) breaker.failed(request, 0);
    expect([breaker.isOpen, breaker.allows(0)]).toEqual([false, true]);
    breaker.failed(5, 0);
    expect([breaker.isOpen, breaker.allows(99)]).toEqual([true, false]);
  });

  it('admits exactly one probe request when its time is up', () => {
    const breaker = opened();
    expect(breaker.allows(100)).toBe(true);
    breaker.placed(7);
    expect([breaker.allows(100), breaker.allows(1e9)]).toEqual([false, false]);
  });

  it('closes when the probe succeeds', () => {
    const breaker = opened();
    breaker.placed(7);
    breaker.succeeded(7);
    breaker.released(7);
    expect([breaker.isOpen, breaker.allows(100)]).toEqual([false, true]);
    breaker.failed(8, 100);
    expect(breaker.isOpen).toBe(false);
  });

  it('stays open for another period when the probe fails', () => {
    const breaker = opened();
    breaker.placed(7);
    breaker.failed(7, 150);
    breaker.released(7);
    expect([breaker.allows(200), breaker.allows(249), breaker.allows(250)]).toEqual([false, false, true]);
  });

  it('admits another probe when the last one ended without a result', () => {
    const breaker = opened();
    breaker.placed(7);
    breaker.released(7);
    expect([breaker.isOpen, breaker.allows(100)]).toEqual([true, true]);
  });

  it('ignores requests from before it opened', () => {
    const breaker = opened();
    breaker.placed(7);
    breaker.succeeded(1);
    breaker.failed(2, 500);
    breaker.released(2);
    expect([breaker.isOpen, breaker.allows(100)]).toEqual([true, false]);
    breaker.released(7);
    expect(breaker.allows(100)).toBe(true);
  });

  it('applies new options at once', () => {
    const breaker = opened();
    breaker.options = { failures: 1, openMs: 10 };
    expect([breaker.allows(9), breaker.allows(10)]).toEqual([false, true]);
    breaker.placed(7);
    breaker.succeeded(7);
    breaker.released(7);
    breaker.failed(8, 20);
    expect(breaker.isOpen).toBe(true);
  });
});
