import { createHash } from 'node:crypto';
import { randomStream } from '../../kernel/random-stream.js';
import { canonicalJson } from '../../policy/canonical-json.js';
import type { Explanation } from '../../policy/explanation.js';
import { FleetRouter } from '../../policy/fleet-router.js';
import type { FleetView } from '../../policy/fleet-view.js';
import { policyOptions } from '../../policy/policy-options.js';
import { routingPolicy } from '../../policy/registry.js';
import type { RequestBody } from '../../policy/request-features.js';
import { sloPriorities } from '../../policy/slo-classes.js';
import type { PolicyConfig } from '../gateway-config.js';
import type { ReplicaSignals } from '../signals/replica-signals.js';

/** More replicas are never behind one endpoint. */
export const MOST_REPLICAS = 1024;

/** Everything a decision is made of besides the fleet's own state. */
export interface DecisionInput {
  nowUs: number;
  inputTokens: number;
  session: string;
  sloClass: string;
  body: RequestBody | null;
  /** Chained ids of the prompt's full blocks: the first `blockCount`. */
  blocks: Int32Array;
  blockCount: number;
  /** By slot: why the replica may not take it, null where it may. */
  removed: readonly (string | null)[];
}

const PRIORITIES = sloPriorities();

/** Bits of `known`. */
export const KNOWN_QUEUED = 1;
export const KNOWN_RUNNING = 2;
export const KNOWN_KV = 4;
const KNOWN_ALL = KNOWN_QUEUED | KNOWN_RUNNING | KNOWN_KV;

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
  /** What replicas say counts for so long. */
  staleMs: number;
  /** By slot: which signals the replica has given and are not stale; the others of the view are assumed. */
  readonly known = new Uint8Array(MOST_REPLICAS);
  #router: FleetRouter;
  readonly #signals = new Map<string, ReplicaSignals>();
  readonly #seed: number;

  constructor(config: PolicyConfig, seed: number, staleMs: number) {
    const { blockSize, hash, policy, options, random, readsBody } = livePolicy(config, seed);
    this.config = config;
    this.blockSize = blockSize;
    this.readsBody = readsBody;
    this.policyHash = hash;
    this.staleMs = staleMs;
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

  /** Another policy takes over. It touches no replica and loses no count; blocks of another size start a new index. */
  setPolicy(config: PolicyConfig): void {
    const { blockSize, hash, policy, options, random, readsBody } = livePolicy(config, this.#seed);
    this.#router.setPolicy(policy, options, random);
    if (blockSize !== this.blockSize || config.cacheBlocks !== this.config.cacheBlocks) {
      this.#router.forgetBlocks(blockSize, config.cacheBlocks);
    }
    this.config = config;
    this.blockSize = blockSize;
    this.readsBody = readsBody;
    this.policyHash = hash;
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
    for (const id of this.#signals.keys()) if (!ids.includes(id)) this.#signals.delete(id);
  }

  setSignals(id: string, signals: ReplicaSignals): void {
    this.#signals.set(id, signals);
  }

  /** Where request number `request` goes: the slot, or -1 when every replica is removed. */
  decide(request: number, input: DecisionInput, why?: Explanation): number {
    const { features, view } = this.#router;
    features.nowUs = input.nowUs;
    features.inputTokens = input.inputTokens;
    features.session = input.session;
    features.sloClass = input.sloClass;
    features.priority = PRIORITIES.priorityOf(input.sloClass);
    features.body = input.body;
    features.blocks = input.blocks;
    features.blockCount = input.blockCount;
    features.contentKey = input.blockCount > 0 ? `block:${input.blocks[0]}` : input.session || `request:${request}`;
    let known = KNOWN_ALL;
    for (let slot = 0; slot < view.size; slot++) {
      const removed = input.removed[slot] ?? null;
      view.eligible[slot] = removed === null ? 1 : 0;
      this.#report(slot, input.nowUs);
      known &= this.known[slot]!;
    }
    if (known !== KNOWN_ALL) this.#assume();
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

  /** What a replica said last counts until it is stale. */
  #report(slot: number, nowUs: number): void {
    const { view } = this.#router;
    const signals = this.#signals.get(view.ids[slot]!);
    const age = signals === undefined ? Number.POSITIVE_INFINITY : nowUs - signals.atUs;
    const isFresh = age <= this.staleMs * 1000;
    let known = 0;
    view.reportedAgeUs[slot] = age;
    if (isFresh && signals!.waiting >= 0) {
      known |= KNOWN_QUEUED;
      view.queued[slot] = signals!.waiting;
    }
    if (isFresh && signals!.running >= 0) {
      known |= KNOWN_RUNNING;
      view.running[slot] = signals!.running;
    }
    if (isFresh && signals!.kvUsed >= 0) {
      known |= KNOWN_KV;
      view.kvUsed[slot] = signals!.kvUsed;
    }
    view.freeBlocks[slot] = isFresh && signals!.freeBlocks >= 0 ? signals!.freeBlocks : 0;
    view.cacheHitRate[slot] = isFresh && signals!.cacheHitRate >= 0 ? signals!.cacheHitRate : 0;
    this.known[slot] = known;
  }

  /**
   * What a replica does not say must not make it look idle. It is taken to be as the others are on average; what it runs, to be
   * what we sent it.
   */
  #assume(): void {
    const { view } = this.#router;
    const { known } = this;
    let queued = 0;
    let queues = 0;
    let kvUsed = 0;
    let caches = 0;
    for (let slot = 0; slot < view.size; slot++) {
      if ((known[slot]! & KNOWN_QUEUED) !== 0) {
        queued += view.queued[slot]!;
        queues++;
      }
      if ((known[slot]! & KNOWN_KV) !== 0) {
        kvUsed += view.kvUsed[slot]!;
        caches++;
      }
    }
    for (let slot = 0; slot < view.size; slot++) {
      if ((known[slot]! & KNOWN_QUEUED) === 0) view.queued[slot] = queues === 0 ? 0 : Math.round(queued / queues);
      if ((known[slot]! & KNOWN_RUNNING) === 0) view.running[slot] = view.inFlight[slot]!;
      if ((known[slot]! & KNOWN_KV) === 0) view.kvUsed[slot] = caches === 0 ? 0 : kvUsed / caches;
    }
  }
}

/** A configured policy, checked and ready to be created. */
function livePolicy(config: PolicyConfig, seed: number) {
  const policy = routingPolicy(config.name, 'policy');
  // Live, equals are drawn: the lowest index would pile idle traffic on the first replica.
  const spread = 'tie_break' in policy.options ? { tie_break: 'random' } : {};
  const options = policyOptions(policy, { ...spread, ...config.options }, 'policy');
  const blockSize = policy.blockSize?.(options) || config.blockSize;
  const described = canonicalJson({ name: config.name, options, blockSize, cacheBlocks: config.cacheBlocks });
  return {
    policy,
    options,
    hash: createHash('sha256').update(described).digest('hex').slice(0, 12),
    random: randomStream(seed, `router/${config.name}`),
    blockSize,
    readsBody: policy.reads(options).includes('body'),
  };
}
