import type { RandomStream } from '../kernel/random-stream.js';
import type { RoutingPicker, RoutingPolicy } from './contract.js';
import type { Explanation } from './explanation.js';
import { createFleetView, type FleetView } from './fleet-view.js';
import { formerSlots, rearrange } from './rearrange.js';
import { createRequestFeatures, type RequestFeatures } from './request-features.js';
import { ledgerParts, RouterLedger } from './router-ledger.js';

export interface FleetRouterOptions<Options> {
  policy: RoutingPolicy<Options>;
  options: Options;
  random: RandomStream;
  /** More replicas are never in the fleet at once. */
  mostReplicas: number;
  /** Tokens per block, and blocks remembered per replica. */
  blockSize: number;
  cacheBlocks: number;
  /** Keep every count and sum, also those the policy does not read: for somebody who looks on. */
  allBooks: boolean;
}

/**
 * A policy at work on a fleet that changes: keeps the view, the books and the request at hand together. The host fills in
 * `features` and the reported columns of `view`, and says what happens to requests, which are small whole numbers of its own.
 */
export class FleetRouter<Options = unknown> {
  readonly view: FleetView;
  readonly features: RequestFeatures;
  #picker: RoutingPicker;
  readonly #ledger: RouterLedger;
  #slots: ReadonlyMap<string, number> = new Map();

  constructor({ policy, options, random, ...sizes }: FleetRouterOptions<Options>) {
    const parts = sizes.allBooks ? { prefixIndex: true, tokens: true } : ledgerParts(policy.reads(options));
    this.view = createFleetView(sizes.mostReplicas);
    this.view.size = 0;
    this.view.ids = [];
    this.features = createRequestFeatures(sizes.mostReplicas);
    this.features.blockSize = sizes.blockSize;
    this.#picker = policy.create(options, { random, replicas: sizes.mostReplicas });
    this.#ledger = new RouterLedger(this.view, { ...parts, capacity: sizes.cacheBlocks });
  }

  /**
   * Another policy decides from now on: what is in flight stays booked and, where it cuts prompts into blocks of the same size,
   * what was sent where stays known. Needs `allBooks`: the new policy may read what the old one did not.
   */
  setPolicy<Other>(policy: RoutingPolicy<Other>, options: Other, random: RandomStream): void {
    this.#picker = policy.create(options, { random, replicas: this.features.routedBlocks.length });
  }

  /** Prompts are cut in another way from now on: what was sent where is forgotten, what is in flight is not. */
  forgetBlocks(blockSize: number, cacheBlocks: number): void {
    this.features.blockSize = blockSize;
    this.#ledger.forgetBlocks(cacheBlocks);
  }

  /** Where a replica stands, -1 when it is not in the fleet. */
  slot(id: string): number {
    return this.#slots.get(id) ?? -1;
  }

  /**
   * The fleet is now these replicas, in this order. What is known of those that were there before stays; others start empty,
   * and those that are not named are forgotten with their requests.
   */
  setReplicas(ids: readonly string[]): void {
    const { view } = this;
    const from = formerSlots(view.ids, ids);
    const { queued, running, kvUsed, freeBlocks, cacheHitRate, reportedAgeUs } = view;
    for (const column of [queued, running, kvUsed, freeBlocks, cacheHitRate, reportedAgeUs]) rearrange(column, from);
    this.#ledger.rearrange(from);
    view.ids = [...ids];
    view.size = ids.length;
    this.#slots = new Map(ids.map((id, slot) => [id, slot]));
  }

  /** Decides where the request of `features` goes: its slot, or -1 when no replica is eligible. */
  pick(why?: Explanation): number {
    this.#ledger.lookUp(this.features);
    return this.#picker.pick(this.features, this.view, why);
  }

  /** The request of the last `pick` goes to this replica. */
  placed(request: number, replica: number): void {
    this.#ledger.placed(request, this.features, replica);
    this.#picker.placed?.(this.features, replica, this.view);
  }

  /** Picks and places in one go. */
  route(request: number, why?: Explanation): number {
    const chosen = this.pick(why);
    if (chosen >= 0) this.placed(request, chosen);
    return chosen;
  }

  /** Whether the request was in flight and had no token yet. */
  firstToken(request: number): boolean {
    return this.#ledger.firstToken(request);
  }

  /** Whether the request was in flight. */
  finished(request: number): boolean {
    return this.#ledger.finished(request);
  }
}
