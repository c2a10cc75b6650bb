import { randomStream } from '../../src/kernel/random-stream.js';
import type { RoutingPicker, RoutingPolicy } from '../../src/policy/contract.js';
import { createFleetView, type FleetView } from '../../src/policy/fleet-view.js';
import { HostedPrediction } from '../../src/policy/host/prediction/hosted-prediction.js';
import { PrefixIndex } from '../../src/policy/host/prefix/prefix-index.js';
import { policyOptions } from '../../src/policy/policy-options.js';
import { createRequestFeatures, type RequestFeatures } from '../../src/policy/request-features.js';
import { fakeProfile } from '../../src/replica/latency/fake-profile.fixture.js';
import { profilePredictor } from '../../src/replica/latency/predict/engine-predictor.js';

/** A prompt: 32 blocks, the first 16 of them known to 8 replicas. */
const BLOCKS = 32;
const KNOWN_BLOCKS = 16;
const KNOWN_TO = 8;
const BLOCK_SIZE = 16;
/**
 * Enough that branches are not predicted from memory, and few enough that all blocks fit into the index of one replica.
 */
const PROMPTS = 512;

/** How a prompt is looked up: the real index, or the plain one it is compared with. */
export interface Lookup {
  touch(replica: number, blocks: Int32Array, count: number): void;
  match(blocks: Int32Array, count: number, matched: Int32Array): void;
}

export interface Workbench {
  /** Makes `times` decisions in a row, each for another prompt. Returns a sum over the choices. */
  pick(times: number): number;
}

/** A policy with a fleet in the middle of its work. */
export function workbench(
  policy: RoutingPolicy,
  replicas: number,
  createLookup: (replicas: number) => Lookup = (count) => new PrefixIndex(count, 10_000),
): Workbench {
  const random = randomStream(7, 'bench');
  const options = policyOptions(policy, {}, 'bench');
  const picker = policy.create(options, { random: randomStream(7, 'router'), replicas });
  const view = busyFleet(replicas, random.below);
  const lookup = policy.reads(options).includes('prefixIndex') ? createLookup(replicas) : null;
  const requests = Array.from({ length: PROMPTS }, (_, i) => prompt(i, replicas));
  const predicted = policy.reads(options).includes('prediction') ? predictions(view, requests[0]!) : null;
  for (const request of requests) {
    for (let i = 0; i < KNOWN_TO; i++) lookup?.touch(random.below(replicas), request.blocks, KNOWN_BLOCKS);
    picker.placed?.(request, random.below(replicas), view);
  }
  let next = 0;
  return {
    pick(times) {
      let sum = 0;
      for (let i = 0; i < times; i++) {
        const request = requests[next]!;
        next = (next + 1) % PROMPTS;
        sum += pickOne(picker, request, view, lookup, predicted);
      }
      return sum;
    },
  };
}

interface Predicted {
  prediction: HostedPrediction;
  features: RequestFeatures;
}

/** Predictions with a measured profile; the host has one object of features, of which the first is taken here. */
function predictions(view: FleetView, features: RequestFeatures): Predicted {
  const predictors = view.ids.map(() => profilePredictor(fakeProfile()));
  const prediction = new HostedPrediction(view, features, (id) => predictors[view.ids.indexOf(id)]!);
  prediction.rearrange(Int32Array.from(view.ids, () => -1));
  return { prediction, features };
}

/** What a host does for a decision: looks the prompt up and predicts if the policy needs it, and lets the policy choose. */
function pickOne(
  picker: RoutingPicker,
  request: RequestFeatures,
  view: FleetView,
  lookup: Lookup | null,
  predicted: Predicted | null,
): number {
  if (lookup !== null) lookup.match(request.blocks, request.blockCount, request.routedBlocks);
  if (predicted !== null) {
    predicted.features.routedBlocks = request.routedBlocks;
    predicted.prediction.predict();
    request.predictions = predicted.features.predictions;
  }
  return picker.pick(request, view);
}

function busyFleet(replicas: number, below: (bound: number) => number): FleetView {
  const view = createFleetView(replicas);
  for (let i = 0; i < replicas; i++) {
    view.queued[i] = below(4);
    view.running[i] = 8 + below(24);
    view.kvUsed[i] = below(1000) / 1000;
    view.inFlight[i] = 10 + below(20);
    view.ongoingTokens[i] = 10_000 + below(10_000);
    view.pendingPrefillTokens[i] = below(4000);
    view.ongoingDecodeTokens[i] = 10_000;
    view.indexedBlocks[i] = 5000 + below(5000);
  }
  return view;
}

function prompt(number: number, replicas: number): RequestFeatures {
  return {
    ...createRequestFeatures(replicas),
    inputTokens: BLOCKS * BLOCK_SIZE,
    session: `chat-${number}`,
    contentKey: `block:${number * BLOCKS}`,
    blockSize: BLOCK_SIZE,
    blockCount: BLOCKS,
    blocks: Int32Array.from({ length: BLOCKS }, (_, i) => number * BLOCKS + i),
  };
}
