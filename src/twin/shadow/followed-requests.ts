import { grownArray, roomFor } from '../../kernel/grown-array.js';
import { formerSlots, rearrange } from '../../policy/rearrange.js';

/** State of a request. */
const GONE = 0;
const PREFILLING = 1;
const DECODING = 2;

/**
 * The requests about which a shadow has decided, as they really are: by replica, their part of the counts and sums of the real fleet.
 * What the real fleet has besides them are requests about which the shadow did not decide, which are in its own fleet as well.
 */
export class FollowedRequests {
  readonly inFlight: Int32Array;
  readonly ongoingTokens: Float64Array;
  readonly pendingPrefillTokens: Float64Array;
  readonly ongoingDecodeTokens: Float64Array;
  /** As predictions count them: requests whose first token will be seen. */
  readonly prefilling: Int32Array;
  readonly prefillingTokens: Float64Array;
  #ids: readonly string[] = [];

  // By request.
  #state = new Uint8Array(0);
  #replicaOf = new Int32Array(0);
  #streams = new Uint8Array(0);
  #inputTokens = new Int32Array(0);
  #uncachedTokens = new Int32Array(0);

  constructor(mostReplicas: number) {
    this.inFlight = new Int32Array(mostReplicas);
    this.ongoingTokens = new Float64Array(mostReplicas);
    this.pendingPrefillTokens = new Float64Array(mostReplicas);
    this.ongoingDecodeTokens = new Float64Array(mostReplicas);
    this.prefilling = new Int32Array(mostReplicas);
    this.prefillingTokens = new Float64Array(mostReplicas);
  }

  placed(request: number, replica: number, inputTokens: number, uncachedTokens: number, streams: boolean): void {
    this.ended(request);
    this.#reserve(request);
    this.#state[request] = PREFILLING;
    this.#replicaOf[request] = replica;
    this.#streams[request] = streams ? 1 : 0;
    this.#inputTokens[request] = inputTokens;
    this.#uncachedTokens[request] = uncachedTokens;
    this.inFlight[replica]!++;
    this.ongoingTokens[replica]! += inputTokens;
    this.pendingPrefillTokens[replica]! += uncachedTokens;
    if (!streams) return;
    this.prefilling[replica]!++;
    this.prefillingTokens[replica]! += uncachedTokens;
  }

  firstToken(request: number): void {
    if (this.#stateOf(request) !== PREFILLING) return;
    const replica = this.#replicaOf[request]!;
    this.#state[request] = DECODING;
    this.#prefilled(request, replica);
    this.ongoingDecodeTokens[replica]! += this.#inputTokens[request]!;
  }

  /** Does nothing for requests that are not followed. */
  ended(request: number): void {
    const state = this.#stateOf(request);
    if (state === GONE) return;
    const replica = this.#replicaOf[request]!;
    const inputTokens = this.#inputTokens[request]!;
    this.#state[request] = GONE;
    this.inFlight[replica]!--;
    this.ongoingTokens[replica]! -= inputTokens;
    if (state === PREFILLING) this.#prefilled(request, replica);
    else this.ongoingDecodeTokens[replica]! -= inputTokens;
  }

  /** Replicas that are not named are forgotten with their requests, as in the real fleet. */
  setReplicas(ids: readonly string[]): void {
    const from = formerSlots(this.#ids, ids);
    this.#ids = ids;
    for (const column of [this.inFlight, this.ongoingTokens, this.pendingPrefillTokens]) rearrange(column, from);
    for (const column of [this.ongoingDecodeTokens, this.prefilling, this.prefillingTokens]) rearrange(column, from);
    for (let request = 0; request < this.#state.length; request++) {
      if (this.#state[request] === GONE) continue;
      const replica = from.indexOf(this.#replicaOf[request]!);
      if (replica < 0) this.#state[request] = GONE;
      else this.#replicaOf[request] = replica;
    }
  }

  #prefilled(request: number, replica: number): void {
    const uncached = this.#uncachedTokens[request]!;
    this.pendingPrefillTokens[replica]! -= uncached;
    if (this.#streams[request] === 0) return;
    this.prefilling[replica]!--;
    this.prefillingTokens[replica]! -= uncached;
  }

  #stateOf(request: number): number {
    return request < this.#state.length ? this.#state[request]! : GONE;
  }

  #reserve(request: number): void {
    if (request < this.#state.length) return;
    const room = roomFor(request, this.#state.length);
    this.#state = grownArray(this.#state, room);
    this.#replicaOf = grownArray(this.#replicaOf, room);
    this.#streams = grownArray(this.#streams, room);
    this.#inputTokens = grownArray(this.#inputTokens, room);
    this.#uncachedTokens = grownArray(this.#uncachedTokens, room);
  }
}
