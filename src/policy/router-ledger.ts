import type { FleetView, Signal } from './fleet-view.js';
import { grownArray, roomFor } from './grown-array.js';
import { PrefixIndex } from './prefix-index.js';
import type { RequestFeatures } from './request-features.js';

/** Prompt blocks that the router remembers per replica unless told otherwise. */
export const DEFAULT_PREFIX_CAPACITY = 10_000;

export interface LedgerOptions {
  /** Keep the index of prompt blocks: signal `prefixIndex`, and the cached part of `pendingPrefillTokens`. */
  prefixIndex: boolean;
  /** Keep the three token sums. */
  tokens: boolean;
  /** Tokens per block of `RequestFeatures.blocks`. */
  blockSize: number;
  /** Blocks remembered per replica. */
  capacity: number;
}

/** Which parts of the ledger the given signals need, so that a host pays for no other. */
export function ledgerParts(reads: readonly Signal[]): Pick<LedgerOptions, 'prefixIndex' | 'tokens'> {
  return {
    prefixIndex: reads.includes('prefixIndex') || reads.includes('pendingPrefillTokens'),
    tokens: (['ongoingTokens', 'pendingPrefillTokens', 'ongoingDecodeTokens'] as const).some((s) => reads.includes(s)),
  };
}

/** Where a request stands with its replica. */
const GONE = 0;
const PREFILLING = 1;
const DECODING = 2;

/**
 * The router's own books: what it has sent where and has not seen the end of. It owns `inFlight`, the token sums and the
 * prefix index of a fleet view; nothing else writes them, and they change in these callbacks alone, never in a pick.
 * Requests are small whole numbers that the host chooses (a row, a slot).
 */
export class RouterLedger {
  readonly #view: FleetView;
  readonly #options: LedgerOptions;
  readonly #index: PrefixIndex | null;
  /** By replica: how often it was forgotten. Requests from an earlier life of the slot are not its own. */
  readonly #life: Int32Array;

  // By request.
  #state = new Uint8Array(0);
  #replicaOf = new Int32Array(0);
  #lifeOf = new Int32Array(0);
  #inputTokens = new Int32Array(0);
  #uncachedTokens = new Int32Array(0);

  constructor(view: FleetView, options: LedgerOptions) {
    const replicas = view.inFlight.length;
    this.#view = view;
    this.#options = options;
    this.#index = options.prefixIndex ? new PrefixIndex(replicas, options.capacity) : null;
    this.#life = new Int32Array(replicas);
  }

  /** Fills in `routedBlocks` from the request's blocks; to be called before the pick. */
  lookUp(request: RequestFeatures): void {
    this.#index?.match(request.blocks, request.blockCount - request.soloBlocks, request.routedBlocks);
  }

  /** The request goes to this replica. `features` are those of the pick, as `lookUp` left them. */
  placed(request: number, features: RequestFeatures, replica: number): void {
    this.finished(request);
    this.#reserve(request);
    const { blockSize, tokens } = this.#options;
    const input = features.inputTokens;
    this.#state[request] = PREFILLING;
    this.#replicaOf[request] = replica;
    this.#lifeOf[request] = this.#life[replica]!;
    this.#inputTokens[request] = input;
    this.#view.inFlight[replica]!++;

    if (tokens) {
      const hit = this.#index === null ? 0 : Math.min(features.routedBlocks[replica]! * blockSize, input);
      this.#uncachedTokens[request] = input - hit;
      this.#view.ongoingTokens[replica]! += input;
      this.#view.pendingPrefillTokens[replica]! += input - hit;
    }
    const { blocks, blockCount, soloBlocks } = features;
    this.#index?.touch(replica, blocks, blockCount - soloBlocks, soloBlocks);
  }

  /** The first token came out. A later "first" token, after a preemption, changes nothing. */
  firstToken(request: number): void {
    if (this.#stateOf(request) !== PREFILLING) return;
    this.#state[request] = DECODING;
    if (!this.#options.tokens) return;
    const replica = this.#replicaOf[request]!;
    this.#view.pendingPrefillTokens[replica]! -= this.#uncachedTokens[request]!;
    this.#view.ongoingDecodeTokens[replica]! += this.#inputTokens[request]!;
  }

  /** The request is gone, in whatever way; whether this was news. Only the first call for a placing counts. */
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

  /** The replica of this slot is gone with all it held; the slot starts empty. */
  forget(replica: number): void {
    this.#life[replica]!++;
    this.#index?.forget(replica);
    this.#view.inFlight[replica] = 0;
    this.#view.ongoingTokens[replica] = 0;
    this.#view.pendingPrefillTokens[replica] = 0;
    this.#view.ongoingDecodeTokens[replica] = 0;
  }

  /** Unknown requests, and those of a forgotten replica, are gone. */
  #stateOf(request: number): number {
    if (request >= this.#state.length) return GONE;
    return this.#lifeOf[request] === this.#life[this.#replicaOf[request]!] ? this.#state[request]! : GONE;
  }

  #reserve(request: number): void {
    if (request < this.#state.length) return;
    const room = roomFor(request, this.#state.length);
    this.#state = grownArray(this.#state, room);
    this.#replicaOf = grownArray(this.#replicaOf, room);
    this.#lifeOf = grownArray(this.#lifeOf, room);
    this.#inputTokens = grownArray(this.#inputTokens, room);
    this.#uncachedTokens = grownArray(this.#uncachedTokens, room);
  }
}
