import { describe, expect, test } from 'vitest';
import { fakeConfig } from '../replica/fake-replica.fixture.js';
import type { LatencyModel } from '../replica/latency/contract.js';
import { fakeProfile } from '../replica/latency/fake-profile.fixture.js';
import { profileLatency } from '../replica/latency/profile-latency.js';
import { Replica } from '../replica/replica.js';
import { RequestOutcomes } from '../replica/request-outcomes.js';
import { RequestTable, ROW_GROWS_CONTEXT } from '../workload/request-table.js';
import type { LiveSequence } from './emulated-replica.js';
import { Engine } from './engine.js';
import { ManualClock } from './virtual-clocks.fixture.js';

const CONFIG = fakeConfig({ totalKvBlocks: 400, maxNumBatchedTokens: 200 });
/** What a step costs depends on the longest context, on shared blocks and on the steps before. */
const PROFILE = fakeProfile({ slowdown: { share: 0.5, tokenUs: 40, overUs: 5000 } });

/** Contexts of different lengths, two families of prompts, arrivals while others run and after all have gone. */
const REQUESTS = Array.from({ length: 24 }, (_, i) => ({
  at: i < 12 ? 700 * i : 2_000_000 + 900 * i,
  input: 20 + ((37 * i) % 90),
  output: 1 + ((13 * i) % 25),
  family: i % 2,
}));
type Request = (typeof REQUESTS)[number];

const keysOf = ({ input, output, family }: Request) =>
  Int32Array.from({ length: Math.floor((input + output - 1) / 4) }, (_, block) => family * 1000 + block);

/** Ends by the simulator's replica, which gets the latency model as it is. */
function simulatedEnds(latency: LatencyModel): number[] {
  const table = new RequestTable(REQUESTS.length);
  for (const { at, input, output } of REQUESTS) {
    const row = table.append();
    table.arrivalUs[row] = at;
    table.inputTokens[row] = input;
    table.outputTokens[row] = output;
    table.flags[row] = ROW_GROWS_CONTEXT;
  }
  const outcomes = new RequestOutcomes(table.count);
  const keys = {
    fill: (row: number, blocks: number, out: Int32Array) => out.set(keysOf(REQUESTS[row]!).subarray(0, blocks)),
    shared: (_: number, blocks: number) => blocks,
  };
  const requests = { table, outcomes, keys, urgency: () => 0 };
  const replica = new Replica(CONFIG, latency, requests, { firstToken() {}, left() {} }, Number.POSITIVE_INFINITY);
  for (const [row, { at }] of REQUESTS.entries()) {
    replica.advance(at);
    replica.enqueue(row, at);
  }
  replica.advance(Number.POSITIVE_INFINITY);
  return REQUESTS.map(({ at }, row) => at + outcomes.e2eUs[row]!);
}

/** Ends by an engine that is driven by a clock. */
function emulatedEnds(latency: LatencyModel, slowFactor = 1): number[] {
  const clock = new ManualClock();
  const { live } = new Engine({ config: CONFIG, latency, clock, faults: { slowFactor } });
  const ends: number[] = [];
  for (const [row, request] of REQUESTS.entries()) {
    const sequence: LiveSequence = {
      inputTokens: request.input,
      outputTokens: request.output,
      keys: keysOf(request),
      produced() {},
      ended: (atUs) => {
        ends[row] = atUs;
      },
    };
    clock.runTo(request.at - 1);
    clock.skipTo(request.at);
    expect(live.submit(sequence, request.at)).toBe(request.at);
  }
  clock.runTo(1e9);
  return ends;
}

describe('an emulated engine with a profile', () => {
  test('has the same step times as the simulator', () => {
    const ends = emulatedEnds(profileLatency(PROFILE));
    expect(ends).toEqual(simulatedEnds(profileLatency(PROFILE)));
    const { slowdown: _, ...costs } = PROFILE.step;
    expect(ends).not.toEqual(emulatedEnds(profileLatency({ ...PROFILE, step: costs })));
  });

  test('charges contexts as the profile says: shared ones are cheaper, the longest one counts', () => {
    const without = (changes: Partial<typeof PROFILE.step>) =>
      emulatedEnds(profileLatency({ ...PROFILE, step: { ...PROFILE.step, ...changes } }));
    const ends = emulatedEnds(profileLatency(PROFILE));
    expect(without({ sharedContext: 1 })).not.toEqual(ends);
    expect(without({ unevenContextUs: 0, mixedUnevenContextUs: 0 })).not.toEqual(ends);
  });

  test('shares nothing with another one that has the same profile, nor with one before it', () => {
    const latency = profileLatency(PROFILE);
    const ends = emulatedEnds(latency);
    expect(emulatedEnds(latency)).toEqual(ends);
  });

  test('is slower by its fault', () => {
    const [plain, slowed] = [emulatedEnds(profileLatency(PROFILE)), emulatedEnds(profileLatency(PROFILE), 2)];
    for (const [row, end] of slowed.entries()) expect(end).toBeGreaterThan(plain[row]!);
  });
});
