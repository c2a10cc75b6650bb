import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writtenOut } from '../fake-replica.fixture.js';
import { RunningBatch } from './running-batch.js';
import { TokenGaps } from './token-gaps.js';

/** A batch whose requests decode until stopped. */
function setup() {
  const batch = new RunningBatch(4);
  const gaps = new TokenGaps(batch);
  return {
    gaps,
    join(): number {
      const slot = batch.freeSlot();
      batch.seatAtTail(slot);
      batch.input[slot] = 1;
      gaps.open(slot);
      batch.startDecoding(slot, 1_000_000);
      return slot;
    },
    /** A request that works on its prompt and has no token yet. */
    prefill(): void {
      batch.seatAtTail(batch.freeSlot());
    },
    /** Every request gets a token, except those that sit out. */
    step(durationUs: number, idle: readonly number[] = []): void {
      for (const slot of idle) gaps.sitOut(slot, durationUs);
      gaps.record(durationUs);
      batch.clock++;
    },
    complete(slot: number): void {
      gaps.claim(slot);
      batch.unseat(batch.placeOf(slot));
    },
    preempt(slot: number): void {
      batch.unseat(batch.placeOf(slot));
    },
    idleUs: (slot: number) => batch.idleUs[slot],
    all: () => writtenOut(gaps.counts()),
  };
}

describe('TokenGaps', () => {
  it('starts with the step after the first token', () => {
    const { join, step, complete, all } = setup();
    step(3);
    const slot = join();
    step(5);
    step(7);
    complete(slot);
    step(9);
    expect(all()).toEqual([5, 7]);
  });

  it('shares a step among all requests that got a token in it', () => {
    const { join, step, complete, all } = setup();
    const [a, b] = [join(), join()];
    step(5);
    complete(a);
    step(7);
    complete(b);
    expect(all()).toEqual([5, 5, 7]);
  });

  it('drops the gaps of a request that was preempted', () => {
    const { join, step, complete, preempt, all } = setup();
    const [a, b] = [join(), join()];
    step(5);
    preempt(b);
    step(7);
    complete(a);
    expect(all()).toEqual([5, 7]);
  });

  it('leaves out steps that a request sat out, and returns how long they took', () => {
    const { join, step, complete, idleUs, all } = setup();
    const [a, b] = [join(), join()];
    step(5);
    step(7, [b]);
    step(8, [b]);
    step(9);
    expect([idleUs(a), idleUs(b)]).toEqual([0, 15]);
    complete(b);
    expect(all()).toEqual([5, 9]);
  });

  it('forgets what sat out when the slot is used again, be it 1 us', () => {
    const { join, step, complete, preempt, idleUs, all } = setup();
    const first = join();
    step(3);
    step(1, [first]);
    preempt(first);
    const second = join();
    expect([second, idleUs(second)]).toEqual([first, 0]);
    step(7);
    step(5, [second]);
    step(9);
    complete(second);
    expect(all()).toEqual([7, 9]);
  });

  it('remembers a request that runs for more steps than the log first holds, sitting some out', () => {
    const { join, step, complete, all } = setup();
    const long = join();
    for (let i = 0; i < 6000; i++) step(i % 1000 === 999 ? 50 : 1, i % 1000 === 999 ? [long] : []);
    complete(long);
    expect(all()).toEqual(new Array<number>(5994).fill(1));
  });

  it('keeps the steps of requests that run on while others come and go', () => {
    const { join, step, complete, prefill, all } = setup();
    const long = join();
    prefill();
    for (let i = 0; i < 9000; i++) {
      const short = join();
      step(i === 0 ? 7 : 1);
      complete(short);
    }
    complete(long);
    expect(all()).toEqual([...Array<number>(17_998).fill(1), 7, 7]);
  });

  it('agrees with lists that are written for every request', () => {
    const action = fc.oneof(
      fc.constant({ kind: 'join' as const }),
      fc.record({ kind: fc.constantFrom('complete' as const, 'preempt' as const), which: fc.nat(9) }),
      fc.record({ kind: fc.constant('step' as const), us: fc.integer({ min: 1, max: 20 }), idle: fc.nat(15) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { join, step, complete, preempt, all } = setup();
        const running: { slot: number; list: number[] }[] = [];
        const expected: number[] = [];
        for (const act of actions) {
          if (act.kind === 'join') {
            running.push({ slot: join(), list: [] });
          } else if (act.kind === 'step') {
            const idle = running.filter((_, i) => (act.idle >> i) & 1);
            step(
              act.us,
              idle.map((one) => one.slot),
            );
            for (const one of running) if (!idle.includes(one)) one.list.push(act.us);
          } else if (running.length > 0) {
            const [one] = running.splice(act.which % running.length, 1);
            (act.kind === 'complete' ? complete : preempt)(one!.slot);
            if (act.kind === 'complete') expected.push(...one!.list);
          }
        }
        expect(all()).toEqual(expected.sort((a, b) => a - b));
      }),
    );
  });
});
