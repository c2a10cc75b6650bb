import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fakeConfig, fakeLatency } from '../replica/fake-replica.fixture.js';
import { Replica } from '../replica/replica.js';
import { RequestOutcomes } from '../replica/request-outcomes.js';
import { RequestTable, ROW_GROWS_CONTEXT } from '../workload/request-table.js';
import { EmulatedReplica, type LiveSequence } from './emulated-replica.js';
import { ManualClock } from './virtual-clocks.fixture.js';

const LATENCY = fakeLatency({ queueingUs: 30, outputTokenUs: 2, postDecodeUs: 7 });

/** A sequence that records its callbacks. */
class Heard implements LiveSequence {
  readonly tokensUs: number[] = [];
  endedUs = -1;

  constructor(
    readonly inputTokens: number,
    readonly outputTokens: number,
    readonly keys: Int32Array,
  ) {}

  produced(tokens: number, atUs: number): void {
    while (this.tokensUs.length < tokens) this.tokensUs.push(atUs);
  }

  ended(atUs: number): void {
    this.endedUs = atUs;
  }
}

interface Arrival {
  gap: number;
  input: number;
  output: number;
  /** Requests of one family begin alike. */
  family: number;
}

const arrival: fc.Arbitrary<Arrival> = fc.record({
  gap: fc.nat(200),
  input: fc.integer({ min: 1, max: 60 }),
  output: fc.integer({ min: 1, max: 30 }),
  family: fc.nat(3),
});
const arrivals = fc.array(arrival, { minLength: 1, maxLength: 25 });
const settings = fc.record({
  totalKvBlocks: fc.integer({ min: 25, max: 60 }),
  maxNumSeqs: fc.integer({ min: 1, max: 6 }),
  maxNumBatchedTokens: fc.integer({ min: 8, max: 100 }),
});

function sequence({ input, output, family }: Arrival): Heard {
  const blocks = Math.floor((input + output - 1) / 4);
  return new Heard(
    input,
    output,
    Int32Array.from({ length: blocks }, (_, i) => family * 1000 + i),
  );
}

/** The result of the simulator's replica for the same requests. */
function simulated(config: ReturnType<typeof fakeConfig>, list: readonly Arrival[]) {
  const table = new RequestTable(list.length);
  let now = 0;
  for (const one of list) {
    const row = table.append();
    now += one.gap;
    table.arrivalUs[row] = now;
    table.inputTokens[row] = one.input;
    table.outputTokens[row] = one.output;
    table.flags[row] = ROW_GROWS_CONTEXT;
  }
  const outcomes = new RequestOutcomes(table.count);
  const keys = {
    fill: (row: number, blocks: number, out: Int32Array) => out.set(sequence(list[row]!).keys.subarray(0, blocks)),
    shared: (_: number, blocks: number) => blocks,
  };
  const requests = { table, outcomes, keys, urgency: () => 0 };
  const replica = new Replica(config, LATENCY, requests, { firstToken() {}, left() {} }, Number.POSITIVE_INFINITY);
  for (let row = 0; row < table.count; row++) {
    replica.advance(table.arrivalUs[row]!);
    replica.enqueue(row, table.arrivalUs[row]!);
  }
  replica.advance(Number.POSITIVE_INFINITY);
  return { table, outcomes, replica };
}

describe('a live replica', () => {
  test('keeps the times of a simulation of the same arrivals', () => {
    fc.assert(
      fc.property(arrivals, settings, (list, changes) => {
        const config = fakeConfig(changes);
        const clock = new ManualClock();
        const live = new EmulatedReplica(config, LATENCY, clock);
        const heard = list.map(sequence);
        let now = 0;
        heard.forEach((one, i) => {
          now += list[i]!.gap;
          // Events before an arrival are processed first; events due at the same time come after it.
          clock.runTo(now - 1);
          clock.runTo(Math.min(now, clock.nextUs - 1));
          expect(live.submit(one, now)).toBe(now);
        });
        clock.runTo(1e9);
        const { table, outcomes, replica } = simulated(config, list);
        heard.forEach((one, row) => {
          const arrivedUs = table.arrivalUs[row]!;
          expect(one.tokensUs).toHaveLength(list[row]!.output);
          if (replica.preemptions === 0) {
            expect(one.tokensUs[0]).toBe(arrivedUs + outcomes.ttftUs[row]! - LATENCY.outputTokenUs);
          }
          const endUs = arrivedUs + outcomes.e2eUs[row]!;
          expect(one.endedUs).toBe(Math.max(endUs, one.tokensUs.at(-1)!));
        });
        expect([live.replica.preemptions, live.replica.cachedPromptTokens]).toEqual([
          replica.preemptions,
          replica.cachedPromptTokens,
        ]);
        expect([live.inside, live.replica.kv.pool.used]).toEqual([0, 0]);
      }),
    );
  });

  test('reports the same times when its timer fires late', () => {
    const list = Array.from({ length: 10 }, (_, i) => ({ gap: i, input: 20, output: 10, family: i % 3 }));
    const timesOf = (stride: number) => {
      const clock = new ManualClock();
      const live = new EmulatedReplica(fakeConfig(), LATENCY, clock);
      const heard = list.map(sequence);
      for (const one of heard) live.submit(one, 0);
      // Time jumps ahead of the alarm, as it does when the process was busy.
      for (let at = stride; live.inside > 0; at += stride) {
        clock.skipTo(at);
        clock.runTo(at);
      }
      return heard.map(({ tokensUs, endedUs }) => [...tokensUs, endedUs]);
    };
    expect(timesOf(500)).toEqual(timesOf(1));
  });

  test('releases everything whenever a request leaves', () => {
    const leaving = fc.array(fc.record({ who: fc.nat(24), atUs: fc.nat(4000) }), { maxLength: 25 });
    fc.assert(
      fc.property(arrivals, settings, leaving, (list, changes, leavers) => {
        const clock = new ManualClock();
        const live = new EmulatedReplica(fakeConfig(changes), LATENCY, clock);
        const heard = list.map(sequence);
        const events = [
          ...list.map((_, i) => ({ atUs: list.slice(0, i + 1).reduce((sum, { gap }) => sum + gap, 0), arrives: i })),
          ...leavers.map(({ who, atUs }) => ({ atUs, leaves: heard[who % heard.length]! })),
        ].sort((a, b) => a.atUs - b.atUs);
        const left = new Map<Heard, number>();
        for (const event of events) {
          clock.runTo(event.atUs);
          if ('arrives' in event) live.submit(heard[event.arrives]!, event.atUs);
          else {
            live.abort(event.leaves);
            if (event.leaves.endedUs < 0) left.set(event.leaves, event.leaves.tokensUs.length);
          }
        }
        clock.runTo(1e9);
        expect([live.inside, live.replica.batchSize, live.replica.queueDepth]).toEqual([0, 0, 0]);
        expect([live.replica.kv.pool.used, live.replica.isBusy, clock.nextUs]).toEqual([
          0,
          false,
          Number.POSITIVE_INFINITY,
        ]);
        for (const one of heard) {
          const tokens = left.get(one);
          // A request cancelled before its arrival still arrives.
          if (tokens === undefined || tokens === 0) continue;
          expect([one.tokensUs.length, one.endedUs]).toEqual([tokens, -1]);
        }
        for (const one of heard) if (!left.has(one)) expect(one.endedUs).toBeGreaterThan(0);
      }),
    );
  });

  test('stops while it is frozen and resumes where it was', () => {
    const clock = new ManualClock();
    const live = new EmulatedReplica(fakeConfig(), LATENCY, clock);
    const one = sequence({ gap: 0, input: 10, output: 5, family: 0 });
    live.submit(one, 0);
    clock.runTo(60);
    expect(one.tokensUs).toEqual([50]);
    live.freeze();
    clock.runTo(1000.5);
    expect([one.tokensUs.length, live.nowUs()]).toEqual([1, 60]);
    live.thaw();
    clock.runTo(3000);
    expect(one.tokensUs).toEqual([50, 61, 72, 83, 94]);
    live.thaw();
    expect(live.inside).toBe(0);
  });

  test('flushes jobs once, the latest first', () => {
    const clock = new ManualClock();
    const live = new EmulatedReplica(fakeConfig(), LATENCY, clock);
    const flushed: string[] = [];
    live.later({ flush: () => flushed.push('a') });
    live.later({ flush: () => flushed.push('b') });
    live.submit(sequence({ gap: 0, input: 1, output: 1, family: 0 }), 0);
    clock.runTo(1000);
    expect(flushed).toEqual(['b', 'a']);
  });

  test('accepts many', () => {
    const clock = new ManualClock();
    const live = new EmulatedReplica(fakeConfig({ totalKvBlocks: 100_000 }), LATENCY, clock);
    const heard = Array.from({ length: 3000 }, (_, i) => sequence({ gap: 0, input: 4, output: 2, family: i }));
    for (const one of heard) live.submit(one, 0);
    expect(live.inside).toBe(3000);
    clock.runTo(1e9);
    expect(heard.every(({ endedUs }) => endedUs > 0)).toBe(true);
  });
});
