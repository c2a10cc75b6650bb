import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect } from 'vitest';
import { createFleetView, type FleetView, type Signal } from './fleet-view.js';
import { createPredictions, type LatencyPredictions } from './latency-predictor.js';
import { createRequestFeatures, type RequestFeatures } from './request-features.js';

/** Slots of every arbitrary view: more than are in use, as in a host. */
export const MOST_REPLICAS = 8;

/** The inputs of one decision. */
export interface DecisionInput {
  view: FleetView;
  request: RequestFeatures;
}

const perReplica = <T>(values: fc.Arbitrary<T>) =>
  fc.array(values, { minLength: MOST_REPLICAS, maxLength: MOST_REPLICAS });
const smallCount = fc.nat({ max: 6 });

/** Fleets of some of these, in any order: between decisions replicas join, leave and move. */
const REPLICAS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

const fleetViews: fc.Arbitrary<FleetView> = fc
  .record({
    ids: fc.shuffledSubarray(REPLICAS),
    eligible: perReplica(fc.constantFrom(0, 1, 1)),
    queued: perReplica(smallCount),
    running: perReplica(smallCount),
    kvUsed: perReplica(fc.constantFrom(0, 0.25, 0.5, 0.9, 1)),
    freeBlocks: perReplica(smallCount),
    cacheHitRate: perReplica(fc.constantFrom(0, 0.5, 1)),
    reportedAgeUs: perReplica(smallCount),
    inFlight: perReplica(smallCount),
    ongoingTokens: perReplica(smallCount),
    pendingPrefillTokens: perReplica(smallCount),
    ongoingDecodeTokens: perReplica(smallCount),
    indexedBlocks: perReplica(smallCount),
  })
  .map(({ ids, ...columns }) => {
    const view = createFleetView(MOST_REPLICAS);
    view.size = ids.length;
    view.ids = ids;
    for (const [name, values] of Object.entries(columns)) view[name as keyof typeof columns].set(values);
    return view;
  });

const time = fc.nat({ max: 1_000_000 });

/** Predictions of most replicas: of one in twenty nothing is known. */
function predictionsOf(
  given: { known: number; ttftUs: number; itlUs: number; promptUs: number }[],
): LatencyPredictions {
  const predictions = createPredictions(MOST_REPLICAS);
  for (const [i, { known, ttftUs, itlUs, promptUs }] of given.entries()) {
    if (known === 0) continue;
    predictions.ttftUs[i] = ttftUs;
    predictions.itlUs[i] = itlUs;
    predictions.promptUs[i] = promptUs;
    predictions.totalUs[i] = ttftUs + promptUs;
    predictions.correction[i] = known % 4;
  }
  return predictions;
}

const requests: fc.Arbitrary<RequestFeatures> = fc
  .record({
    nowUs: fc.nat({ max: 5_000_000 }),
    inputTokens: fc.nat({ max: 4000 }),
    priority: fc.integer({ min: -3, max: 4 }),
    sloClass: fc.constantFrom('standard', 'batch'),
    sloTtftUs: fc.constantFrom(0, 0, 200_000),
    sloTpotUs: fc.constantFrom(0, 0, 400_000),
    tenant: fc.integer({ min: -1, max: 3 }),
    session: fc.constantFrom('', 's', 't', 'u'),
    body: fc.constantFrom(
      null,
      { prompt: 'Once upon a time', model: 'm' },
      { messages: [{ role: 'user', content: 'Hello' }] },
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: [{ type: 'text', text: 'Look at ☃' }, { type: 'image_url' }] },
          { role: 'assistant', content: 'I do.' },
          { role: 'user', content: 'And?' },
        ],
      },
    ),
    contentKey: fc.constantFrom('block:1', 'block:2', 'session:s', 'request_1'),
    blockSize: fc.constantFrom(16, 512),
    blocks: fc.array(fc.nat({ max: 30 }), { maxLength: 6 }),
    routedBlocks: perReplica(smallCount),
    cachedBlocks: perReplica(fc.constantFrom(0, 0, 0, 1, 6)),
    predictions: perReplica(fc.record({ known: fc.nat({ max: 20 }), ttftUs: time, itlUs: time, promptUs: time })),
  })
  .map(({ blocks, routedBlocks, cachedBlocks, predictions, ...plain }) => ({
    ...createRequestFeatures(MOST_REPLICAS),
    ...plain,
    blocks: Int32Array.from(blocks),
    blockCount: blocks.length,
    routedBlocks: Int32Array.from(routedBlocks, (found) => Math.min(found, blocks.length)),
    cachedBlocks: Int32Array.from(cachedBlocks, (found) => Math.min(found, blocks.length)),
    predictions: predictionsOf(predictions),
  }));

const decisionInputs: fc.Arbitrary<DecisionInput[]> = fc.array(
  // A plain object, as a copy of it is.
  fc.record({ view: fleetViews, request: requests }).map((input) => ({ ...input })),
  {
    minLength: 1,
    maxLength: 8,
  },
);

let generated: DecisionInput[][] | null = null;

/**
 * Checks a property for as many lists of decisions as a property has by default, or for `runs` of them. They are generated
 * once for all policies, which takes longer than deciding; a list that fails is made as small as possible.
 */
export function forDecisions(check: (inputs: DecisionInput[]) => void, runs = 100): void {
  generated ??= fc.sample(decisionInputs, 100);
  try {
    for (const inputs of generated.slice(0, runs)) check(inputs);
  } catch (error) {
    fc.assert(fc.property(decisionInputs, check), { numRuns: runs });
    throw error;
  }
}

/** `toEqual` in a fraction of its time, which is all that a property with many cases takes. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

export function eligibleSlots(view: FleetView): number[] {
  return Array.from({ length: view.size }, (_, i) => i).filter((i) => view.eligible[i] !== 0);
}

/** The same inputs with every undeclared signal set to another value. */
export function withOtherSignals({ view, request }: DecisionInput, declared: readonly Signal[]): DecisionInput {
  const other: DecisionInput = { view: structuredClone(view), request: structuredClone(request) };
  const columns: Record<Exclude<Signal, 'body' | 'contentKey' | 'prediction' | 'truth'>, Int32Array | Float64Array> = {
    queued: other.view.queued,
    running: other.view.running,
    kvUsed: other.view.kvUsed,
    freeBlocks: other.view.freeBlocks,
    cacheHitRate: other.view.cacheHitRate,
    inFlight: other.view.inFlight,
    ongoingTokens: other.view.ongoingTokens,
    pendingPrefillTokens: other.view.pendingPrefillTokens,
    ongoingDecodeTokens: other.view.ongoingDecodeTokens,
    indexedBlocks: other.view.indexedBlocks,
    prefixIndex: other.request.routedBlocks,
    replicaCache: other.request.cachedBlocks,
  };
  for (const [signal, column] of Object.entries(columns)) {
    if (declared.includes(signal as Signal)) continue;
    for (let i = 0; i < column.length; i++) column[i] = (i * 7 + 3) % 5;
  }
  if (!declared.includes('prediction')) for (const column of Object.values(other.request.predictions)) column.fill(3);
  // In a world without text the key replaces the body.
  const readsKey = declared.includes('body') || declared.includes('contentKey');
  if (!readsKey) other.request.contentKey = 'another';
  if (!declared.includes('body')) other.request.body = { prompt: 'another' };
  return other;
}
