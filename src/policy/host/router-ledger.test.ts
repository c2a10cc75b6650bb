import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFleetView, type FleetView, type Signal } from '../fleet-view.js';
import { createRequestFeatures, type RequestFeatures } from '../request-features.js';
import { DEFAULT_PREFIX_CAPACITY, ledgerParts, RouterLedger } from './router-ledger.js';

const EVERYTHING = { prefixIndex: true, tokens: true, capacity: DEFAULT_PREFIX_CAPACITY };

function features(inputTokens: number, blocks: readonly number[] = []): RequestFeatures {
  return {
    ...createRequestFeatures(2),
    inputTokens,
    blocks: Int32Array.from(blocks),
    blockCount: blocks.length,
  };
}

/** Looks up and places, as a host does around a pick. */
function place(ledger: RouterLedger, request: number, prompt: RequestFeatures, replica: number): void {
  ledger.lookUp(prompt);
  ledger.placed(request, prompt, replica);
}

function books(view: FleetView, replica: number): number[] {
  return [
    view.inFlight[replica]!,
    view.ongoingTokens[replica]!,
    view.pendingPrefillTokens[replica]!,
    view.ongoingDecodeTokens[replica]!,
  ];
}

describe('RouterLedger', () => {
  it('follows a request from placement to its end', () => {
    const view = createFleetView(2);
    const ledger = new RouterLedger(view, EVERYTHING);
    place(ledger, 5, features(40, [1, 2]), 1);
    expect(books(view, 1)).toEqual([1, 40, 40, 0]);
    ledger.firstToken(5);
    expect(books(view, 1)).toEqual([1, 40, 0, 40]);
    expect(ledger.finished(5)).toBe(true);
    expect(books(view, 1)).toEqual([0, 0, 0, 0]);
    expect(books(view, 0)).toEqual([0, 0, 0, 0]);
  });

  it("keeps a tenant's blocks while another tenant sends more than the index holds", () => {
    const ledger = new RouterLedger(createFleetView(2), { ...EVERYTHING, capacity: 10 });
    const [own, again] = [features(40, [1, 2, 3, 4]), features(40, [1, 2, 3, 4])];
    own.tenant = 0;
    place(ledger, 0, own, 0);
    for (let request = 1; request < 5; request++) {
      const large = features(
        400,
        Array.from({ length: 30 }, (_, i) => 100 * request + i),
      );
      large.tenant = 1;
      place(ledger, request, large, 0);
    }
    ledger.lookUp(again);
    expect([...again.routedBlocks]).toEqual([4, 0]);
  });

  it('counts as pending only tokens that the replica was not sent before', () => {
    const view = createFleetView(2);
    const ledger = new RouterLedger(view, EVERYTHING);
    place(ledger, 0, features(40, [1, 2]), 0);
    place(ledger, 1, features(60, [1, 2, 3]), 0);
    expect(books(view, 0)).toEqual([2, 100, 40 + (60 - 32), 0]);
    place(ledger, 2, features(60, [1, 2, 3]), 1);
    expect(books(view, 1)).toEqual([1, 60, 60, 0]);
    ledger.finished(1);
    expect(books(view, 0)).toEqual([1, 40, 40, 0]);
  });

  it('never counts more hits than there are input tokens', () => {
    const view = createFleetView(2);
    const ledger = new RouterLedger(view, EVERYTHING);
    place(ledger, 0, features(20, [1, 2]), 0);
    place(ledger, 1, features(20, [1, 2]), 0);
    expect(books(view, 0)).toEqual([2, 40, 20, 0]);
  });

  it('looks up without changing the index', () => {
    const view = createFleetView(2);
    const ledger = new RouterLedger(view, EVERYTHING);
    place(ledger, 0, features(48, [1, 2, 3]), 1);
    const prompt = features(48, [1, 2, 9]);
    ledger.lookUp(prompt);
    ledger.lookUp(prompt);
    expect(Array.from(prompt.routedBlocks)).toEqual([0, 2]);
  });

  it('counts an end once, and ignores unknown requests', () => {
    const view = createFleetView(2);
    const ledger = new RouterLedger(view, EVERYTHING);
    place(ledger, 0, features(10), 0);
    place(ledger, 3, features(10), 0);
    expect([ledger.finished(0), ledger.finished(0), ledger.finished(1), ledger.finished(900)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    ledger.firstToken(0);
    ledger.firstToken(1);
    ledger.firstToken(900);
    expect(books(view, 0)).toEqual([1, 10, 10, 0]);
  });

  it('counts the first token once, also when a preempted request has another one', () => {
    const view = createFleetView(2);
    const ledger = new RouterLedger(view, EVERYTHING);
    place(ledger, 0, features(10), 0);
    ledger.firstToken(0);
    ledger.firstToken(0);
    expect(books(view, 0)).toEqual([1, 10, 0, 10]);
  });

  it('moves a request that is placed again, and allows numbers to be reused', () => {
    const view = createFleetView(2);
    const ledger = new RouterLedger(view, EVERYTHING);
    place(ledger, 0, features(10), 0);
    place(ledger, 0, features(10), 1);
    expect([books(view, 0), books(view, 1)]).toEqual([
      [0, 0, 0, 0],
      [1, 10, 10, 0],
    ]);
    ledger.finished(0);
    place(ledger, 0, features(7), 0);
    expect(books(view, 0)).toEqual([1, 7, 7, 0]);
  });

  it('follows a changing fleet: replicas that stay keep their counts, others are forgotten with their requests', () => {
    const view = createFleetView(3);
    const ledger = new RouterLedger(view, EVERYTHING);
    const prompt = { ...features(40, [1, 2]), routedBlocks: new Int32Array(3) };
    for (const replica of [0, 1, 2]) place(ledger, replica, prompt, replica);
    ledger.firstToken(2);
    // The third and the first swap slots, the second is replaced by a new one.
    ledger.rearrange(Int32Array.of(2, -1, 0));
    expect([books(view, 0), books(view, 1), books(view, 2)]).toEqual([
      [1, 40, 0, 40],
      [0, 0, 0, 0],
      [1, 40, 40, 0],
    ]);
    expect(Array.from(view.indexedBlocks)).toEqual([2, 0, 2]);
    ledger.lookUp(prompt);
    expect(Array.from(prompt.routedBlocks)).toEqual([2, 0, 2]);
    expect([ledger.finished(1), ledger.firstToken(1)]).toEqual([false, false]);
    expect([ledger.firstToken(0), ledger.finished(2)]).toEqual([true, true]);
    expect([books(view, 0), books(view, 2)]).toEqual([
      [0, 0, 0, 0],
      [1, 40, 0, 40],
    ]);
  });

  it('returns whether a first token or an end changed anything', () => {
    const ledger = new RouterLedger(createFleetView(2), { ...EVERYTHING, tokens: false });
    place(ledger, 0, features(10), 0);
    expect([ledger.firstToken(0), ledger.firstToken(0)]).toEqual([true, false]);
    expect([ledger.finished(0), ledger.finished(0), ledger.firstToken(0)]).toEqual([true, false, false]);
  });

  it('keeps only the configured parts', () => {
    const view = createFleetView(2);
    const ledger = new RouterLedger(view, { ...EVERYTHING, prefixIndex: false, tokens: false });
    const prompt = features(32, [1, 2]);
    place(ledger, 0, prompt, 0);
    ledger.lookUp(prompt);
    ledger.firstToken(0);
    expect(books(view, 0)).toEqual([1, 0, 0, 0]);
    expect(Array.from(prompt.routedBlocks)).toEqual([0, 0]);
    expect(ledger.finished(0)).toBe(true);
    ledger.rearrange(Int32Array.of(-1, 0));
    expect([ledger.finished(0), ...books(view, 1)]).toEqual([false, 0, 0, 0, 0]);
  });

  it('counts whole prompts as pending without an index, even if the features list blocks', () => {
    const view = createFleetView(2);
    const ledger = new RouterLedger(view, { ...EVERYTHING, prefixIndex: false });
    const prompt = features(32, [1, 2]);
    prompt.routedBlocks.fill(2);
    place(ledger, 0, prompt, 0);
    expect(books(view, 0)).toEqual([1, 32, 32, 0]);
  });

  const FLEETS = [[1, 0], [0, -1], [-1, 1], [-1, 0], [0, 1], [1], []];

  it('has empty books after any sequence of events, and never negative ones', () => {
    const step = fc.record({
      kind: fc.constantFrom('placed', 'placed', 'firstToken', 'finished', 'rearrange'),
      request: fc.nat({ max: 20 }),
      replica: fc.nat({ max: 1 }),
      inputTokens: fc.nat({ max: 100 }),
      blocks: fc.array(fc.nat({ max: 5 }), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const view = createFleetView(2);
        const ledger = new RouterLedger(view, EVERYTHING);
        for (const { kind, request, replica, inputTokens, blocks } of steps) {
          if (kind === 'placed') place(ledger, request, features(inputTokens, blocks), replica);
          else if (kind === 'rearrange') ledger.rearrange(Int32Array.of(...FLEETS[request % FLEETS.length]!));
          else ledger[kind](request);
          expect(Math.min(...books(view, 0), ...books(view, 1))).toBeGreaterThanOrEqual(0);
        }
        for (let request = 0; request <= 20; request++) ledger.finished(request);
        expect([...books(view, 0), ...books(view, 1)]).toEqual(new Array(8).fill(0));
      }),
    );
  });
});

describe('ledgerParts', () => {
  it('needs the index and the sums only where a signal needs them', () => {
    expect(ledgerParts(new Set<Signal>(['queued', 'inFlight', 'replicaCache']))).toEqual({
      prefixIndex: false,
      tokens: false,
    });
    expect(ledgerParts(new Set<Signal>(['prefixIndex']))).toEqual({ prefixIndex: true, tokens: false });
    expect(ledgerParts(new Set<Signal>(['indexedBlocks']))).toEqual({ prefixIndex: true, tokens: false });
    expect(ledgerParts(new Set<Signal>(['ongoingTokens']))).toEqual({ prefixIndex: false, tokens: true });
    expect(ledgerParts(new Set<Signal>(['ongoingDecodeTokens']))).toEqual({ prefixIndex: false, tokens: true });
    expect(ledgerParts(new Set<Signal>(['pendingPrefillTokens']))).toEqual({ prefixIndex: true, tokens: true });
  });
});
