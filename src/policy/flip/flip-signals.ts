import type { FleetView, Signal } from '../fleet-view.js';
import type { RequestFeatures } from '../request-features.js';

/** The numbers of one signal, by slot, and which other values a search for flips tries. */
export interface FlipSignal {
  /** As it is reported: `routedBlocks` for what policies declare as `prefixIndex`. */
  name: FlipSignalName;
  column: Int32Array | Float64Array;
  least: number;
  greatest: number;
  /** Values are whole multiples of 1 / `perUnit`. */
  perUnit: number;
  /** A change of this much counts as much as one request more or less. */
  scale: number;
}

export type FlipSignalName =
  | Exclude<Signal, 'prefixIndex' | 'replicaCache' | 'body' | 'contentKey' | 'prediction' | 'truth'>
  | 'routedBlocks'
  | 'cachedBlocks'
  | 'predictedTtftUs'
  | 'predictedItlUs'
  | 'predictedPromptUs';

/** Engines run at most this many requests at once by default; longer queues are tried where the fleet has some. */
const MANY_REQUESTS = 256;
/** Shares are tried in steps of 0.1 %, and 5 % of a KV cache count as much as a request. */
const SHARE_STEPS = 1000;
const SHARE_SCALE = 0.05;
/** Predicted times to first tokens and of prompts are tried in steps of 1 ms, and 100 ms count as a request; per token a tenth of both. */
const TIME_STEP_US = 1000;
const TIME_SCALE_STEPS = 100;

/** The signals of replicas that a policy reads, with their natural bounds for this request in this fleet. */
export function flipSignals(reads: readonly Signal[], request: RequestFeatures, view: FleetView): FlipSignal[] {
  const { blockCount } = request;
  const tokens = Math.max(request.inputTokens, 1);
  const blocks = Math.max(blockCount, 1);
  const whole = (name: FlipSignalName, column: Int32Array | Float64Array, greatest: number, scale: number) => ({
    ...{ name, column, least: 0, perUnit: 1, scale },
    greatest: Math.max(greatest, 2 * greatestOf(column, view)),
  });
  const share = (name: FlipSignalName, column: Float64Array): FlipSignal => ({
    ...{ name, column, least: 0, greatest: 1, perUnit: SHARE_STEPS, scale: SHARE_SCALE },
  });
  const time = (name: FlipSignalName, column: Float64Array, stepUs: number): FlipSignal => ({
    ...{ name, column, least: 0, perUnit: 1 / stepUs, scale: TIME_SCALE_STEPS * stepUs },
    greatest: Math.ceil((4 * greatestOf(column, view)) / stepUs) * stepUs,
  });
  return reads.flatMap((signal): FlipSignal | FlipSignal[] => {
    switch (signal) {
      case 'queued':
      case 'running':
      case 'inFlight':
        return whole(signal, view[signal], MANY_REQUESTS, 1);
      case 'kvUsed':
      case 'cacheHitRate':
        return share(signal, view[signal]);
      case 'ongoingTokens':
      case 'pendingPrefillTokens':
      case 'ongoingDecodeTokens':
        return whole(signal, view[signal], 4 * tokens, tokens);
      case 'freeBlocks':
      case 'indexedBlocks':
        return whole(signal, view[signal], 4 * blocks, blocks);
      case 'prefixIndex':
        return { ...whole('routedBlocks', request.routedBlocks, 0, blocks), greatest: blockCount };
      case 'replicaCache':
        return { ...whole('cachedBlocks', request.cachedBlocks, 0, blocks), greatest: blockCount };
      case 'prediction':
        return [
          time('predictedTtftUs', request.predictions.ttftUs, TIME_STEP_US),
          time('predictedItlUs', request.predictions.itlUs, TIME_STEP_US / 10),
          time('predictedPromptUs', request.predictions.promptUs, TIME_STEP_US),
        ];
      default:
        return [];
    }
  });
}

function greatestOf(column: Int32Array | Float64Array, { eligible, size }: FleetView): number {
  let greatest = 0;
  for (let slot = 0; slot < size; slot++) {
    if (eligible[slot] === 1 && column[slot]! > greatest) greatest = column[slot]!;
  }
  return greatest;
}
