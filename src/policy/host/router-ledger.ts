import { grownArray, roomFor } from '../../kernel/grown-array.js';
import type { FleetView, Signal } from '../fleet-view.js';
import { rearrange } from '../rearrange.js';
import { hitTokens, type RequestFeatures } from '../request-features.js';
import { PrefixIndex } from './prefix/prefix-index.js';

/** Prompt blocks that the router remembers per replica by default. */
export const DEFAULT_PREFIX_CAPACITY = 10_000;

export interface LedgerOptions {
  /** Keep the index of prompt blocks: signal `prefixIndex`, and the cached part of `pendingPrefillTokens`. */
  prefixIndex: boolean;
  /** Keep the three token sums. */
  tokens: boolean;
  /** Blocks remembered per replica. */
  capacity: number;
}

/** Which parts of the ledger the given signals need, so that a host pays for no other. */
export function ledgerParts(reads: ReadonlySet<Signal>): Pick<LedgerOptions, 'prefixIndex' | 'tokens'> {
  return {
    prefixIndex: (['prefixIndex', 'indexedBlocks', 'pendingPrefillTokens', 'prediction'] as const).some((signal) =>
      reads.has(signal),
    ),
    tokens: (['ongoingTokens', 'pendingPrefillTokens', 'ongoingDecodeTokens', 'prediction'] as const).some((signal) =>
      reads.has(signal),
    ),
  };
}

/** State of a request. */
const GONE = 0;
const PREFILLING = 1;
const DECODING = 2;

/**
 * The router's own books: what it has sent where and has not seen the end of. It owns `inFlight`, the token sums and
 * the prefix index of a fleet view; nothing else writes them, and they change in these callbacks alone, never in a
 * pick. Requests are small whole numbers that the host chooses (a row, a slot).
 */
export class RouterLedger {
  readonly #view: FleetView;
  readonly #options: LedgerOptions;
  #index: PrefixIndex | null;

  // By request.
  #state = new Uint8Array(0);
  #replicaOf = new Int32Array(0);
  #inputTokens = new Int32Array(0);
  #uncachedTokens = new Int32Array(0);

  constructor(view: FleetView, options: LedgerOptions) {
    this.#view = view;
    this.#options = options;
    this.#index = options.prefixIndex ? new PrefixIndex(view.inFlight.length, options.capacity) : null;
  }

  /** Starts an empty index of prompt blocks; the counts stay. */
  forgetBlocks(capacity: number): void {
    if (this.#index === null) return;
    this.#index = new PrefixIndex(this.#view.inFlight.length, capacity);
    this.#view.indexedBlocks.fill(0);
  }

  /** Fills in `routedBlocks` from the request's blocks; to be called before the pick. */
  lookUp(request: RequestFeatures): void {
    const { blockCount, blocks, routedBlocks, soloBlocks } = request;
    this.#index?.match(blocks, blockCount - soloBlocks, routedBlocks, this.#view.size);
  }

  /** The request goes to this replica. `features` are those of the pick, as `lookUp` left them. */
  placed(request: number, features: RequestFeatures, replica: number): void {
    this.finished(request);
    this.#reserve(request);
    const input = features.inputTokens;
    this.#state[request] = PREFILLING;
    this.#replicaOf[request] = replica;
    this.#inputTokens[request] = input;
    this.#view.inFlight[replica]!++;

    if (this.#options.tokens) {
      const hit = this.#index === null ? 0 : hitTokens(features, replica);
      this.#uncachedTokens[request] = input - hit;
      this.#view.ongoingTokens[replica]! += input;
      this.#view.pendingPrefillTokens[replica]! += input - hit;
    }
    if (this.#index !== null) {
      const { blocks, blockCount, soloBlocks } = features;
      this.#index.touch(replica, blocks, blockCount - soloBlocks, soloBlocks, features.tenant);
      this.#view.indexedBlocks[replica] = this.#index.held(replica);
    }
  }

  /** The first token came out; whether this was news. A later "first" token, after a preemption, changes nothing. */
  firstToken(request: number): boolean {
    if (this.#stateOf(request) !== PREFILLING) return false;
    this.#state[request] = DECODING;
    if (!this.#options.tokens) return true;
    const replica = this.#replicaOf[request]!;
    this.#view.pendingPrefillTokens[replica]! -= this.#uncachedTokens[request]!;
    this.#view.ongoingDecodeTokens[replica]! += this.#inputTokens[request]!;
    return true;
  }

  /** The request has ended, in any way; returns whether it was in flight. Only the first call per placement counts. */
  finished(request: number): boolean {
    const state = this.#stateOf(request);
    if (state === GONE) return false;
    this.#state[request] = GONE;
    const view = this.#view;
    const replica = this.#replicaOf[request]!;
    view.inFlight[replica]!--;
    if (!this.#options.tokens) return true;
    view.ongoingTokens[replica]! -= this.#inputTokens[request]!;
    if (state === PREFILLING) view.pendingPrefillTokens[replica]! -= this.#uncachedTokens[request]!;
    else view.ongoingDecodeTokens[replica]! -= this.#inputTokens[request]!;
    return true;
  }

  /**
   * The fleet has changed: slot i is now the replica of slot from[i], or a new and empty one where that is -1. Replicas
   * that are not named are forgotten with their requests.
   */
  rearrange(from: Int32Array): void {
    const view = this.#view;
    for (let request = 0; request < this.#state.length; request++) {
      if (this.#state[request] === GONE) continue;
      const slot = from.indexOf(this.#replicaOf[request]!);
      if (slot < 0) this.#state[request] = GONE;
      else this.#replicaOf[request] = slot;
    }
    this.#index?.rearrange(from);
    for (const column of [
      view.inFlight,
      view.ongoingTokens,
      view.pendingPrefillTokens,
      view.ongoingDecodeTokens,
      view.indexedBlocks,
    ]) {
      rearrange(column, from);
    }
  }

  /** Unknown requests count as gone. */
  #stateOf(request: number): number {
    return request < this.#state.length ? this.#state[request]! : GONE;
  }

  #reserve(request: number): void {
    if (request < this.#state.length) return;
    const room = roomFor(request, this.#state.length);
    this.#state = grownArray(this.#state, room);
    this.#replicaOf = grownArray(this.#replicaOf, room);
    this.#inputTokens = grownArray(this.#inputTokens, room);
    this.#uncachedTokens = grownArray(this.#uncachedTokens, room);
  }
}
