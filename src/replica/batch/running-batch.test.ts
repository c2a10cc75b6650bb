import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunningBatch } from './running-batch.js';

/** A slot in decode: its prompt is done, and it is done itself when its context has grown by `steps`. */
function decoding(batch: RunningBatch, input: number, steps: number): number {
  const slot = batch.freeSlot();
  batch.seatAtTail(slot);
  batch.input[slot] = input;
  batch.ahead[slot] = 0;
  batch.keyCount[slot] = 0;
  batch.startDecoding(slot, input + steps);
  return slot;
}

function ring(batch: RunningBatch, offset: number): number[] {
  const slots: number[] = [];
  for (let slot = batch.firstOfRing(batch.ringAt(offset)); slot >= 0; slot = batch.ringNext(slot)) slots.push(slot);
  return slots;
}

const order = (batch: RunningBatch) => Array.from(batch.order.subarray(0, batch.size));

function done(batch: RunningBatch): number[] {
  const slots: number[] = [];
  batch.collectDone(slots);
  return slots;
}

describe('the longest context', () => {
  it('is found whatever requests join, leave or sit out', () => {
    const moves = fc.array(fc.tuple(fc.constantFrom('join', 'leave', 'sit out', 'step'), fc.nat(30)), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(moves, (list) => {
        const batch = new RunningBatch(4);
        for (const [move, n] of list) {
          const slot = batch.size === 0 ? -1 : batch.order[n % batch.size]!;
          if (move === 'join') decoding(batch, n, 100);
          if (move === 'leave' && slot >= 0) batch.unseat(n % batch.size);
          if (move === 'sit out' && slot >= 0) batch.sitOut(slot);
          if (move === 'step' || move === 'sit out') batch.clock++;
          const contexts = order(batch).map((one) => batch.progress(one));
          expect(batch.longestContext()).toBe(Math.max(0, ...contexts));
        }
      }),
    );
  });

  it('is 0 when no slot decodes', () => {
    const batch = new RunningBatch(4);
    batch.seatAtTail(batch.freeSlot());
    expect(batch.longestContext()).toBe(0);
  });
});

describe('seats', () => {
  it('are in order of admission; the others move up when one leaves', () => {
    const batch = new RunningBatch(4);
    const [a, b, c] = [decoding(batch, 1, 9), decoding(batch, 1, 9), decoding(batch, 1, 9)];
    expect(order(batch)).toEqual([a, b, c]);
    batch.unseat(1);
    expect(order(batch)).toEqual([a, c]);
    expect([a, c].map((slot) => batch.placeOf(slot!))).toEqual([0, 1]);
  });

  it('reuse slots, and a reused slot stands at the end', () => {
    const batch = new RunningBatch(4);
    const first = decoding(batch, 1, 9);
    const second = decoding(batch, 1, 9);
    batch.unseat(0);
    expect(decoding(batch, 1, 9)).toBe(first);
    expect(order(batch)).toEqual([second, first]);
    expect(batch.placeOf(first)).toBe(1);
  });

  it('offer a slot again that did not join', () => {
    const batch = new RunningBatch(4);
    const slot = batch.freeSlot();
    expect([batch.freeSlot(), batch.size]).toEqual([slot, 0]);
    expect(decoding(batch, 1, 9)).toBe(slot);
    expect(batch.freeSlot()).not.toBe(slot);
  });

  it('grow as needed and keep what is known of each', () => {
    const batch = new RunningBatch(4);
    const slots = Array.from({ length: 600 }, (_, i) => decoding(batch, i, 10 + i));
    expect(order(batch)).toEqual(slots);
    expect(slots.map((slot) => batch.placeOf(slot))).toEqual([...slots.keys()]);
    expect(slots.map((slot) => batch.progress(slot))).toEqual(slots.map((_, i) => i));
    batch.clock = 10 + 599;
    expect(done(batch)).toEqual([slots[599]]);
  });
});

describe('progress', () => {
  it('grows by one per step without being written down', () => {
    const batch = new RunningBatch(4);
    batch.clock = 100;
    const slot = decoding(batch, 7, 9);
    expect(batch.progress(slot)).toBe(7);
    batch.clock += 3;
    expect(batch.progress(slot)).toBe(10);
  });

  it('stays where it is in a step that the slot sits out', () => {
    const batch = new RunningBatch(4);
    const slot = decoding(batch, 7, 9);
    batch.sitOut(slot);
    batch.clock++;
    expect(batch.progress(slot)).toBe(7);
  });

  it('counts tokens that are stored ahead of the context', () => {
    const batch = new RunningBatch(4);
    const slot = batch.freeSlot();
    batch.seatAtTail(slot);
    batch.input[slot] = 0;
    batch.ahead[slot] = 1;
    batch.startDecoding(slot, 3);
    expect([batch.progress(slot), batch.stored(slot)]).toEqual([0, 1]);
    expect([ring(batch, 0), ring(batch, 1)]).toEqual([[], [slot]]);
  });

  it('adds up to the sum of contexts', () => {
    const batch = new RunningBatch(4);
    decoding(batch, 7, 9);
    batch.clock++;
    const second = decoding(batch, 20, 9);
    batch.sitOut(second);
    batch.clock++;
    expect(batch.baseSum + batch.decoding * batch.clock).toBe(9 + 20);
    batch.unseat(1);
    expect(batch.baseSum + batch.decoding * batch.clock).toBe(9);
  });
});

describe('rings', () => {
  it('hold the slots by how full their last block is, in batch order', () => {
    const batch = new RunningBatch(4);
    const [a, b, c] = [decoding(batch, 8, 9), decoding(batch, 5, 9), decoding(batch, 12, 9)];
    expect([ring(batch, 0), ring(batch, 1), ring(batch, -1)]).toEqual([[a, c], [b], []]);
    expect([
      batch.sizeOfRing(batch.ringAt(0)),
      batch.sizeOfRing(batch.ringAt(1)),
      batch.sizeOfRing(batch.ringAt(2)),
    ]).toEqual([2, 1, 0]);
  });

  it('turn with the clock', () => {
    const batch = new RunningBatch(4);
    const [a, b] = [decoding(batch, 8, 9), decoding(batch, 5, 9)];
    batch.clock += 3;
    expect([ring(batch, 0), ring(batch, -1)]).toEqual([[b], [a]]);
  });

  it('keep batch order when an early slot joins late', () => {
    const batch = new RunningBatch(4);
    const [a, b] = [decoding(batch, 7, 9), decoding(batch, 8, 9)];
    batch.sitOut(b);
    batch.clock++;
    // b sat the step out and still has 8 tokens; a has reached 8 and stands before it.
    expect(ring(batch, 0)).toEqual([a, b]);
  });

  it('drop a slot that leaves', () => {
    const batch = new RunningBatch(4);
    const [a, , c] = [decoding(batch, 4, 9), decoding(batch, 4, 9), decoding(batch, 4, 9)];
    batch.unseat(1);
    expect([ring(batch, 0), batch.sizeOfRing(batch.ringAt(0))]).toEqual([[a, c], 2]);
    batch.unseat(0);
    batch.unseat(0);
    expect([ring(batch, 0), batch.decoding]).toEqual([[], 0]);
  });
});

describe('collectDone', () => {
  it('finds the slots that are done at this clock, in batch order', () => {
    const batch = new RunningBatch(4);
    const a = decoding(batch, 1, 3);
    const b = decoding(batch, 1, 2);
    batch.clock++;
    const c = decoding(batch, 9, 2);
    batch.clock++;
    expect(done(batch)).toEqual([b]);
    batch.clock++;
    expect(done(batch)).toEqual([a, c]);
  });

  it('finds slots that are done with their prompt at once', () => {
    const batch = new RunningBatch(4);
    expect(done(batch)).toEqual([]);
    const slot = decoding(batch, 5, 0);
    expect(done(batch)).toEqual([slot]);
  });

  it('waits one step longer for each step sat out', () => {
    const batch = new RunningBatch(4);
    const slot = decoding(batch, 1, 1);
    batch.sitOut(slot);
    batch.clock++;
    expect(done(batch)).toEqual([]);
    batch.clock++;
    expect(done(batch)).toEqual([slot]);
  });

  it('does not take a slot that is due 1024 steps later', () => {
    const batch = new RunningBatch(4);
    const late = decoding(batch, 1, 1025);
    const soon = decoding(batch, 1, 1);
    batch.clock++;
    expect(done(batch)).toEqual([soon]);
    batch.clock += 1024;
    batch.unseat(1);
    expect(done(batch)).toEqual([late]);
  });
});

describe('slots whose output may be hit again', () => {
  it('are counted while they decode', () => {
    const batch = new RunningBatch(4);
    const slot = batch.freeSlot();
    batch.seatAtTail(slot);
    batch.input[slot] = 6;
    batch.keyCount[slot] = 2;
    batch.startDecoding(slot, 9);
    decoding(batch, 8, 1);
    expect(batch.keyedDecoding).toBe(1);
    batch.unseat(0);
    expect(batch.keyedDecoding).toBe(0);
  });
});

describe('a batch', () => {
  it('agrees with one that writes everything down', () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant('join' as const), input: fc.nat(9), steps: fc.nat(6) }),
      fc.record({ kind: fc.constant('leave' as const), place: fc.nat(9) }),
      fc.record({ kind: fc.constant('step' as const), idle: fc.array(fc.nat(9), { maxLength: 3 }) }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(action, { maxLength: 60 }), (blockSize, actions) => {
        const batch = new RunningBatch(blockSize);
        let model: { slot: number; context: number; target: number }[] = [];
        for (const act of actions) {
          if (act.kind === 'join') {
            const slot = decoding(batch, act.input, act.steps + 1);
            model.push({ slot, context: act.input, target: act.input + act.steps + 1 });
          } else if (act.kind === 'leave' && model.length > 0) {
            batch.unseat(act.place % model.length);
            model.splice(act.place % model.length, 1);
          } else if (act.kind === 'step') {
            const idle = new Set(act.idle.filter((place) => place < model.length));
            for (const place of idle) batch.sitOut(model[place]!.slot);
            batch.clock++;
            for (const [place, one] of model.entries()) if (!idle.has(place)) one.context++;
            const finished = model.filter((one) => one.context === one.target).map((one) => one.slot);
            expect(done(batch)).toEqual(finished);
            for (const slot of finished) batch.unseat(batch.placeOf(slot));
            model = model.filter((one) => one.context < one.target);
          }
          expect(order(batch)).toEqual(model.map((one) => one.slot));
          expect(model.map((one) => batch.progress(one.slot))).toEqual(model.map((one) => one.context));
          for (let offset = 0; offset < blockSize; offset++) {
            const there = model.filter((one) => one.context % blockSize === offset).map((one) => one.slot);
            expect(ring(batch, offset)).toEqual(there);
            expect(batch.sizeOfRing(batch.ringAt(offset))).toBe(there.length);
          }
        }
      }),
    );
  });
});
