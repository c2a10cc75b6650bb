import type { Explanation } from '../../policy/explanation.js';
import { FleetRouter } from '../../policy/fleet-router.js';
import type { FleetView } from '../../policy/fleet-view.js';
import type { RequestBody } from '../../policy/request-features.js';
import { type SloPriorities, sloPriorities } from '../../policy/slo-classes.js';
import type { PolicyConfig } from '../config/gateway-config.js';
import { TenantNumbers } from '../flow/tenant-numbers.js';
import { livePolicy } from './live-policy.js';
import { SignalView } from './signal-view.js';

/** More replicas are never behind one endpoint. */
export const MOST_REPLICAS = 1024;

/** Everything a decision is made of besides the fleet's own state. */
export interface DecisionInput {
  nowUs: number;
  inputTokens: number;
  session: string;
  sloClass: string;
  /** Empty for nobody. */
  tenant: string;
  body: RequestBody | null;
  /** Chained ids of the prompt's full blocks: the first `blockCount`. */
  blocks: Int32Array;
  blockCount: number;
  /** By slot: why the replica may not take it, null where it may. */
  removed: readonly (string | null)[];
}

/**
 * A policy deciding over live replicas. Its state changes by the calls below and by nothing else, so the same calls in the
 * same order give the same decisions: the gateway makes them once, `replay --decisions` makes them again.
 */
export class DecidingFleet {
  config: PolicyConfig;
  /** Tokens per block of the prompts this policy looks at. */
  blockSize: number;
  /** The policy keys requests by what they say. */
  readsBody: boolean;
  /** Names the policy with all its options: the same for policies that decide alike. */
  policyHash: string;
  /** What replicas say of themselves. */
  readonly signals: SignalView;
  #router: FleetRouter;
  #priorities: SloPriorities;
  /** What of the policy chooses replicas. */
  #routing: string;
  readonly #tenants = new TenantNumbers();
  readonly #seed: number;

  constructor(config: PolicyConfig, seed: number, staleMs: number) {
    const { blockSize, hash, policy, options, random, readsBody, routing } = livePolicy(config, seed);
    this.config = config;
    this.#priorities = sloPriorities(config.sloPriorities);
    this.#routing = routing;
    this.blockSize = blockSize;
    this.readsBody = readsBody;
    this.policyHash = hash;
    this.signals = new SignalView(MOST_REPLICAS, staleMs);
    this.#seed = seed;
    this.#router = new FleetRouter({
      policy,
      options,
      random,
      mostReplicas: MOST_REPLICAS,
      blockSize,
      cacheBlocks: config.cacheBlocks,
      allBooks: true,
    });
  }

  /**
   * Another policy takes over. It touches no replica and loses no count. Where replicas are chosen as before, what the policy
   * has learnt stays; blocks of another size start a new index.
   */
  setPolicy(config: PolicyConfig): void {
    const { blockSize, hash, policy, options, random, readsBody, routing } = livePolicy(config, this.#seed);
    if (routing !== this.#routing) this.#router.setPolicy(policy, options, random);
    if (blockSize !== this.blockSize || config.cacheBlocks !== this.config.cacheBlocks) {
      this.#router.forgetBlocks(blockSize, config.cacheBlocks);
    }
    this.config = config;
    this.blockSize = blockSize;
    this.readsBody = readsBody;
    this.policyHash = hash;
    this.#priorities = sloPriorities(config.sloPriorities);
    this.#routing = routing;
  }

  get view(): FleetView {
    return this.#router.view;
  }

  /** How many leading blocks of the last request each replica was sent before, by slot. */
  get routedBlocks(): Int32Array {
    return this.#router.features.routedBlocks;
  }

  slot(id: string): number {
    return this.#router.slot(id);
  }

  setReplicas(ids: readonly string[]): void {
    this.#router.setReplicas(ids);
    this.signals.keep(ids);
  }

  /** Where request number `request` goes: the slot, or -1 when every replica is removed. */
  decide(request: number, input: DecisionInput, why?: Explanation): number {
    const { features, view } = this.#router;
    features.nowUs = input.nowUs;
    features.inputTokens = input.inputTokens;
    features.session = input.session;
    features.sloClass = input.sloClass;
    features.priority = this.#priorities.priorityOf(input.sloClass);
    features.tenant = this.#tenants.of(input.tenant);
    features.body = input.body;
    features.blocks = input.blocks;
    features.blockCount = input.blockCount;
    features.contentKey = input.blockCount > 0 ? `block:${input.blocks[0]}` : input.session || `request:${request}`;
    for (let slot = 0; slot < view.size; slot++) {
      const removed = input.removed[slot] ?? null;
      view.eligible[slot] = removed === null ? 1 : 0;
    }
    this.signals.fill(view, input.nowUs);
    const chosen = this.#router.pick(why);
    if (chosen >= 0) this.#router.placed(request, chosen);
    if (why !== undefined) {
      input.removed.forEach((reason, slot) => {
        if (reason !== null) why.removed.set(slot, reason);
      });
    }
    return chosen;
  }

  firstToken(request: number): void {
    this.#router.firstToken(request);
  }

  finished(request: number): void {
    this.#router.finished(request);
  }
}
