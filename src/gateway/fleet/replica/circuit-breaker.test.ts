import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.js';

const breakerOf = (failures: number, openMs: number) => new CircuitBreaker({ failures, share: 1, windowMs: 0, openMs });

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
    breaker.succeeded(2, 0);
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
    breaker.succeeded(7, 0);
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
    breaker.succeeded(1, 0);
    breaker.failed(2, 500);
    breaker.released(2);
    expect([breaker.isOpen, breaker.allows(100)]).toEqual([true, false]);
    breaker.released(7);
    expect(breaker.allows(100)).toBe(true);
  });

  it('applies new options at once', () => {
    const breaker = opened();
    breaker.options = { failures: 1, share: 1, windowMs: 0, openMs: 10 };
    expect([breaker.allows(9), breaker.allows(10)]).toEqual([false, true]);
    breaker.placed(7);
    breaker.succeeded(7, 0);
    breaker.released(7);
    breaker.failed(8, 20);
    expect(breaker.isOpen).toBe(true);
  });

  it('admits a probe at once when a health check half-opens it, and only one', () => {
    const breaker = opened(2, 60_000);
    expect(breaker.allows(1)).toBe(false);
    breaker.halfOpen();
    expect([breaker.isOpen, breaker.allows(1)]).toEqual([true, true]);
    breaker.placed(7);
    breaker.halfOpen();
    expect(breaker.allows(1)).toBe(false);
    breaker.failed(7, 2);
    breaker.released(7);
    expect(breaker.allows(3)).toBe(false);
  });

  it('closes with the first byte of the probe, not of other requests', () => {
    const breaker = opened();
    breaker.placed(7);
    breaker.responded(1);
    expect(breaker.isOpen).toBe(true);
    breaker.responded(7);
    expect([breaker.isOpen, breaker.allows(0)]).toEqual([false, true]);
  });

  it('opens when half of at least ten requests within the window failed, though never two in a row', () => {
    const breaker = new CircuitBreaker({ failures: 5, share: 0.5, windowMs: 1000, openMs: 100 });
    for (let request = 0; request < 9; request++) {
      if (request % 2 === 0) breaker.succeeded(request, request);
      else breaker.failed(request, request);
    }
    expect(breaker.isOpen).toBe(false);
    breaker.failed(9, 9);
    expect([breaker.isOpen, breaker.allows(10)]).toEqual([true, false]);
  });

  it('forgets failures older than the window, and all when it closes', () => {
    const breaker = new CircuitBreaker({ failures: 100, share: 0.5, windowMs: 1000, openMs: 0 });
    for (let request = 0; request < 9; request++) breaker.failed(request, 0);
    breaker.failed(9, 1000);
    expect(breaker.isOpen).toBe(false);
    for (let request = 10; request < 19; request++) breaker.failed(request, 1500);
    expect(breaker.isOpen).toBe(true);
    breaker.placed(20);
    breaker.succeeded(20, 1600);
    breaker.released(20);
    for (let request = 21; request < 29; request++) breaker.failed(request, 1700);
    expect(breaker.isOpen).toBe(false);
    breaker.failed(29, 1700);
    expect(breaker.isOpen).toBe(true);
  });

  it('counts a failure found later only while it is closed', () => {
    const breaker = breakerOf(2, 100);
    breaker.failedBefore(0);
    expect(breaker.isOpen).toBe(false);
    breaker.failedBefore(1);
    expect(breaker.isOpen).toBe(true);
    breaker.failedBefore(90);
    expect(breaker.allows(101)).toBe(true);
  });
});
