import type { ApiKind } from '../../protocol/endpoints.js';
import type { Outcome } from './exchange-host.js';

/**
 * A request that has ended, as those who count, log and record see it. It is the exchange itself: they keep numbers and names
 * of it, never the object. Times are the gateway's clock in microseconds, -1 for what never happened.
 */
export interface FinishedRequest {
  readonly id: string;
  readonly kind: ApiKind;
  readonly endpoint: { readonly name: string };
  readonly model: string;
  /** Of the key it came with; both empty where no keys are asked for. */
  readonly keyId: string;
  readonly tenant: string;
  /** Empty when it belongs to no chat. */
  readonly session: string;
  readonly sloClass: string;
  /** Empty when no replica got it. */
  readonly replicaId: string;
  /** What the client was told; 499 when it left before it was told anything. */
  readonly status: number;
  readonly outcome: Outcome;
  /** Why it did not end well, in a few words that are constants; empty when it did. */
  readonly cause: string;
  /** Replicas that were tried. */
  readonly attempts: number;
  readonly isStreamed: boolean;
  readonly arrivedUs: number;
  /** When it went to the replica that answered, and what it waited for before that in the queue. */
  readonly dispatchedUs: number;
  readonly queuedUs: number;
  readonly firstTokenUs: number;
  readonly endedUs: number;
  /** The length of the prompt as the gateway estimates it. */
  readonly promptTokens: number;
  /** As the engine counted them, or as far as we could see: `isMetered` tells which. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly isMetered: boolean;
  /** For the recording: tokens per block, and the hashed ids of the prompt's blocks as they stand in the file. */
  readonly blockSize: number;
  readonly recordedBlocks: string;
}
