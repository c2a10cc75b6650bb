import { describe, expect, it } from 'vitest';
import { pickerOf } from './parts/picker.fixture.js';
import { unified } from './unified.js';

/** A session that was last on the second of four replicas, and is warm there by more than half. */
function warmChat(overload_factor = 2) {
  const host = pickerOf(unified, 4, { overload_factor });
  const { request } = host;
  request.inputTokens = 1000;
  request.blockSize = 512;
  request.session = 's';
  host.place(1);
  request.routedBlocks[1] = 1;
  return host;
}

describe('the gate', () => {
  it('keeps a session where it is warm, although another score is better', () => {
    const { view, why, ask } = warmChat();
    view.inFlight.set([0, 2, 0, 0]);
    expect(ask()).toBe(1);
    expect(Array.from(why.scores)).toEqual([0, -976, 0, 0]);
    expect(why).toMatchObject({ scored: true, tied: 0, rule: "its session's replica: warm and not overloaded" });
  });

  it('closes at half the prompt', () => {
    const { view, request, ask } = warmChat();
    view.inFlight.set([0, 1, 0, 0]);
    request.inputTokens = 1024;
    expect(ask()).not.toBe(1);
    request.inputTokens = 1023;
    expect(ask()).toBe(1);
    request.inputTokens = 0;
    expect(ask()).not.toBe(1);
  });

  it('closes when the replica has more than twice the mean, which counts as 1 at least', () => {
    const { view, ask } = warmChat();
    view.inFlight.set([0, 2, 0, 0]);
    expect(ask()).toBe(1);
    view.inFlight.set([0, 3, 0, 0]);
    expect(ask()).not.toBe(1);
    view.inFlight.set([3, 6, 3, 0]);
    expect(ask()).toBe(1);
    view.inFlight.set([3, 7, 3, 0]);
    expect(ask()).not.toBe(1);
    const strict = warmChat(1.25);
    strict.view.inFlight.set([3, 5, 4, 4]);
    expect(strict.ask()).toBe(1);
    strict.view.eligible[2] = 0;
    strict.view.inFlight.set([3, 5, 99, 3]);
    strict.ask();
    expect(strict.why.rule).toBe('least LMetric score');
  });

  it('applies to the last replica of the session, by id, while it is eligible', () => {
    const { view, request, ask, place } = warmChat();
    place(2);
    request.routedBlocks.set([0, 1, 1, 0]);
    view.inFlight.fill(1);
    expect(ask()).toBe(2);
    view.ids = ['replica-2', 'replica-3', 'replica-0', 'replica-1'];
    request.routedBlocks.set([1, 0, 0, 1]);
    expect(ask()).toBe(0);
    view.eligible[0] = 0;
    expect(ask()).toBe(3);
  });
});

describe('the fallback', () => {
  it('compares scores, then uncached tokens, then requests', () => {
    const { view, request, why, ask } = pickerOf(unified, 4);
    request.inputTokens = 1000;
    request.blockSize = 512;
    view.inFlight.set([2, 0, 0, 1]);
    request.routedBlocks.set([2, 0, 1, 2]);
    // Scores 0: the first knows the whole prompt, the second and third are idle, the fourth knows it with fewer requests.
    expect(ask()).toBe(3);
    expect(why).toMatchObject({ tied: 1, rule: 'least LMetric score' });
    view.eligible[3] = 0;
    expect(ask()).toBe(0);
    view.pendingPrefillTokens[0] = 1;
    expect(ask()).toBe(2);
  });

  it('lets replicas equal in all three take turns, by a separate counter', () => {
    const { view, why, ask } = pickerOf(unified, 4);
    view.eligible[1] = 0;
    expect([ask(), ask(), ask(), ask()]).toEqual([0, 2, 3, 0]);
    expect(why).toMatchObject({ tied: 3, rule: 'its turn among the least LMetric scores' });
    view.inFlight.set([1, 1, 1, 0]);
    expect([ask(), ask()]).toEqual([3, 3]);
    view.inFlight.fill(0);
    expect(ask()).toBe(2);
  });
});
