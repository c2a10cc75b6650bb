import { lognormal } from '../../src/kernel/distributions.js';
import { randomStream } from '../../src/kernel/random-stream.js';
import type { BatchShape, LatencyModel } from '../../src/replica/latency/contract.js';
import type { WorldEngine } from '../../test/support/recorded-world.js';
import { H200_REPLICA } from './h200.js';

/** Steps of prompts are padded to a multiple of this. */
const PADDING = 32;
/** The same step takes more or less time: the spread of its logarithm. Now and then the host is elsewhere. */
const SPREAD = 0.06;
const STALLS = 0.002;
const STALL_US = 15_000;
/** Requests of the other replicas at which all are as slow as their coefficients say, and by how much less they are alone. */
const CROWD = 60;
const ALONE = 0.08;

/**
 * Engines like those of the measured runs (quarters of an H200), with what no latency profile has: padded prompts, replicas that
 * slow each other down, noise, stalls of the host. So what-if has to predict engines that its model does not describe.
 */
export function emulatedEngine(seed: number): WorldEngine {
  return {
    replica: H200_REPLICA,
    latencyOf: (slot, others) => noisyEngine(seed, slot, others),
    dispatchUs: 350,
  };
}

function noisyEngine(seed: number, slot: number, others: () => number): LatencyModel {
  const random = randomStream(seed, `steps of replica ${slot}`);
  return {
    ...{ queueingUs: 2000, outputTokenUs: 0, postDecodeUs: 300 },
    stepUs(shape) {
      const noise = lognormal(random, 0, SPREAD);
      const stallUs = random.next() < STALLS ? STALL_US * random.next() : 0;
      const crowd = 1 - ALONE + ALONE * Math.min(1.5, others() / CROWD);
      return Math.max(1, Math.round(gpuUs(shape) * noise * crowd + 200 + 30 * shape.scheduled + stallUs));
    },
  };
}

/** As regressions over the steps that the engines of the measured runs recorded. */
function gpuUs({ decodeContext, decodes, prefillPairs, prefillTokens }: BatchShape): number {
  if (prefillTokens === 0) return 7000 + 0.08 * decodeContext + 28 * decodes;
  const padded = PADDING * Math.ceil((prefillTokens + decodes) / PADDING);
  return 4700 + 0.14 * decodeContext + 32 * padded + 0.006 * prefillPairs;
}
