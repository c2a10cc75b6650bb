import type { SavableStream } from '../../kernel/random-stream.js';
import type { AdmissionGate, RoutingPicker, Shortfall } from '../contract.js';
import { type Explanation, resetExplanation } from '../explanation.js';
import { createFleetView, type FleetView } from '../fleet-view.js';
import { type FlipSearch, findFlip } from '../flip/find-flip.js';
import type { PredictorSource } from '../latency-predictor.js';
import { formerSlots, rearrange } from '../rearrange.js';
import { createRequestFeatures, type RequestFeatures } from '../request-features.js';
import { type SloClass, type SloPriorities, sloPriorities } from '../slo-classes.js';
import { HostedPolicies } from './hosted-policies.js';
import type { PolicySettings } from './policy-settings.js';
import { policyStream } from './policy-streams.js';
import { HostedPrediction } from './prediction/hosted-prediction.js';
import { ledgerParts, RouterLedger } from './router-ledger.js';
import { Suspicion } from './suspicion.js';
import { TenantBudgets } from './tenant-budgets.js';
import type { World } from './worlds.js';

export interface HostOptions {
  world: World;
  seed: number;
  /** The fleet never has more replicas at once. */
  mostReplicas: number;
  /**
   * Keep every count and sum, also those that no policy reads: needed where policies change or all counts are shown.
   */
  allBooks: boolean;
  /** How fast each replica is, for predictions; absent: unknown of all. */
  predictors?: PredictorSource;
}

/** Why a replica may not take the request, by slot; null where it may. */
export type Removals = readonly (string | null)[];

const NO_REMOVALS: Removals = [];
const UNKNOWN_SPEED: PredictorSource = () => null;

/**
 * The one place where policies meet a fleet, used by the simulator, the gateway, `decide` and `replay --decisions`. It
 * owns the view, the router's books, the current request and the policies' state, which change by the calls below and
 * by nothing else: the same calls in the same order give the same decisions in every world.
 *
 * Order of calls for a request: `describe`, `allow` or `restrict`, then the world refreshes the reported columns of
 * `view`, then
 * `refuse`. When the request leaves the queue: the same again, then the world fills in the prompt (`blocks`, `body`,
 * `cachedBlocks`, `contentKey` of `features`), then `pick`, `placed`, `firstToken` and `finished`. Requests are small
 * whole numbers that the world chooses.
 */
export class PolicyHost {
  readonly view: FleetView;
  readonly features: RequestFeatures;
  /** Whether the books need `blocks` before `pick`. */
  readonly needsBlocks: boolean;
  /**
   * Replicas that give nothing back; null in worlds whose replicas cannot hang. The world reports bytes and asks it before
   * `restrict`: what it removes is part of the removals, so that a recorded decision holds without it.
   */
  readonly suspicion: Suspicion | null;
  /** Predicted times of requests, for policies that read them and for observers. */
  readonly prediction: HostedPrediction;
  readonly #world: World;
  readonly #seed: number;
  readonly #ledger: RouterLedger;
  readonly #budgets = new TenantBudgets();
  #policies: HostedPolicies;
  #random: SavableStream;
  #picker: RoutingPicker;
  #gate: AdmissionGate;
  #priorities: SloPriorities;
  #slots: ReadonlyMap<string, number> = new Map();
  #removals: Removals = NO_REMOVALS;
  /** What `allow` set last; null after `restrict`. */
  #allowed: boolean | null = true;

  constructor(
    settings: PolicySettings,
    { allBooks, mostReplicas, predictors = UNKNOWN_SPEED, seed, world }: HostOptions,
  ) {
    const policies = new HostedPolicies(settings, world);
    const parts = allBooks ? { prefixIndex: true, tokens: true } : ledgerParts(policies.reads);
    this.#world = world;
    this.#seed = seed;
    this.suspicion = world.replicasHang ? new Suspicion() : null;
    this.view = createFleetView(mostReplicas);
    this.view.size = 0;
    this.view.ids = [];
    this.features = createRequestFeatures(mostReplicas);
    this.features.blockSize = policies.blockSize;
    const isPredicting = allBooks || policies.needsPredictions;
    this.prediction = new HostedPrediction(this.view, this.features, isPredicting ? predictors : UNKNOWN_SPEED);
    this.#ledger = new RouterLedger(this.view, { ...parts, capacity: settings.cacheBlocks });
    this.#policies = policies;
    this.#random = policyStream(seed, 'router');
    this.#picker = policies.createPicker(this.#random, mostReplicas);
    this.#gate = policies.createGate(seed, mostReplicas);
    this.#priorities = sloPriorities(settings.sloPriorities);
    this.#budgets.configure(settings.tenantBudgets);
    this.needsBlocks = parts.prefixIndex;
  }

  get policies(): HostedPolicies {
    return this.#policies;
  }

  get priorities(): SloPriorities {
    return this.#priorities;
  }

  /** Whether decisions depend on more than the requests: otherwise the fleet need not be up to date for them. */
  get looksAtFleet(): boolean {
    return this.#policies.reads.size > 0 || !this.#budgets.isEmpty;
  }

  /** Every request is admitted: the policy need not be called. */
  get admitsAll(): boolean {
    return this.#policies.admission.admitsAll === true && this.#budgets.isEmpty;
  }

  /**
   * Other policies decide from now on; needs `allBooks`. What is in flight stays booked. A policy with the same name
   * and options keeps what it has learnt, and the index of prompt blocks stays while block size and capacity do.
   */
  setPolicies(settings: PolicySettings): void {
    const before = this.#policies;
    const policies = new HostedPolicies(settings, this.#world);
    const replicas = this.features.routedBlocks.length;
    if (policies.routingKey !== before.routingKey) {
      this.#random = policyStream(this.#seed, 'router');
      this.#picker = policies.createPicker(this.#random, replicas);
    }
    if (policies.admissionKey !== before.admissionKey) this.#gate = policies.createGate(this.#seed, replicas);
    if (policies.blockSize !== before.blockSize || settings.cacheBlocks !== before.settings.cacheBlocks) {
      this.features.blockSize = policies.blockSize;
      this.#ledger.forgetBlocks(settings.cacheBlocks);
    }
    this.#policies = policies;
    this.#priorities = sloPriorities(settings.sloPriorities);
    this.#budgets.configure(settings.tenantBudgets);
    this.#budgets.seats = this.view.size * settings.seatsPerReplica;
  }

  /** The slot of a replica, -1 when it is not in the fleet. */
  slot(id: string): number {
    return this.#slots.get(id) ?? -1;
  }

  /**
   * The fleet is now these replicas, in this order. Replicas that were there before keep their state; others start
   * empty, and replicas that are not named are forgotten with their requests.
   */
  setReplicas(ids: readonly string[]): void {
    const { view } = this;
    const from = formerSlots(view.ids, ids);
    const { queued, running, kvUsed, freeBlocks, cacheHitRate, reportedAgeUs } = view;
    for (const column of [queued, running, kvUsed, freeBlocks, cacheHitRate, reportedAgeUs]) rearrange(column, from);
    this.#ledger.rearrange(from);
    this.suspicion?.rearrange(from);
    view.ids = [...ids];
    view.size = ids.length;
    this.prediction.rearrange(from);
    view.eligible.fill(1);
    this.#removals = NO_REMOVALS;
    this.#allowed = true;
    this.#slots = new Map(ids.map((id, slot) => [id, slot]));
    this.#budgets.seats = ids.length * this.#policies.settings.seatsPerReplica;
  }

  /** The number by which features name a tenant, -1 for the empty name; it stays the same. */
  tenantNumber(name: string): number {
    return this.#budgets.numberOf(name);
  }

  /**
   * Everything that follows is about this request.
   * @param sloClass of `priorities`, and `tenant` by its number: a world may keep both
   * @param session empty for none
   */
  describe(nowUs: number, inputTokens: number, sloClass: SloClass, tenant: number, session: string): void {
    const { features } = this;
    features.nowUs = nowUs;
    features.inputTokens = inputTokens;
    features.sloClass = sloClass.name;
    features.priority = sloClass.priority;
    features.tenant = tenant;
    features.session = session;
  }

  /** All replicas may take the request, or none. */
  allow(eligible: boolean): void {
    if (eligible === this.#allowed) return;
    this.view.eligible.fill(eligible ? 1 : 0);
    this.#removals = NO_REMOVALS;
    this.#allowed = eligible;
  }

  /** Replicas with a reason may not take the request; the reasons become part of its explanation. */
  restrict(removals: Removals): void {
    const { eligible, size } = this.view;
    for (let slot = 0; slot < size; slot++) eligible[slot] = (removals[slot] ?? null) === null ? 1 : 0;
    this.#removals = removals;
    this.#allowed = null;
  }

  /** Why the request is not admitted, or null. Budgets come first: a tenant over its own costs the gate nothing. */
  refuse(): string | null {
    const { features } = this;
    if (this.#budgets.isOver(features.tenant, features.priority)) return 'tenant is over its budget';
    return this.#gate.refuse(features, this.view);
  }

  /**
   * When the request that was refused just now would be admitted, in microseconds: Infinity for never, NaN when it
   * cannot be known.
   */
  retryAfterUs(): number {
    const { features } = this;
    if (this.#budgets.isOver(features.tenant, features.priority)) return Number.NaN;
    return this.#gate.retryAfterUs?.(features) ?? Number.NaN;
  }

  /** What the request that was refused just now lacked; null where the policy cannot tell. */
  shortfall(): Shortfall | null {
    const { features } = this;
    if (this.#budgets.isOver(features.tenant, features.priority)) return this.#budgets.shortfall(features.tenant);
    return this.#gate.shortfall?.(features, this.view) ?? null;
  }

  /**
   * The slot of the replica for the request, -1 when none is eligible. With `why`, how it was chosen. Allocates
   * nothing.
   */
  pick(why?: Explanation): number {
    if (why === undefined) {
      this.#ledger.lookUp(this.features);
      if (this.#policies.needsPredictions) this.prediction.predict();
      return this.#picker.pick(this.features, this.view);
    }
    resetExplanation(why);
    this.#random.save(why.state.random);
    this.#ledger.lookUp(this.features);
    if (this.#policies.needsPredictions) this.prediction.predict();
    const chosen = this.#picker.pick(this.features, this.view, why);
    const removals = this.#removals;
    for (let slot = 0; slot < removals.length; slot++) {
      const reason = removals[slot]!;
      if (reason !== null) why.removed.set(slot, reason);
    }
    return chosen;
  }

  /** Why the policy refused the request of the last pick although replicas were eligible; null when it did not. */
  get refusal(): string | null {
    return this.#picker.refusal ?? null;
  }

  /** What would have flipped the last `pick`; before `placed`. Changes nothing. */
  findFlip(chosen: number, { state }: Explanation): FlipSearch | null {
    const { features: request, view } = this;
    return findFlip(
      { reads: this.#policies.routingReads, request, view, state, chosen },
      this.#policies.repicker(view.eligible.length),
    );
  }

  /**
   * The request of the last `pick` goes to this replica.
   * @param isStreamed whether its first token will be seen
   */
  placed(request: number, replica: number, isStreamed = true): void {
    this.prediction.placed(request, replica, isStreamed);
    this.#ledger.placed(request, this.features, replica);
    this.#budgets.placed(request, this.features.tenant);
    this.#picker.placed?.(this.features, replica, this.view);
  }

  /** Whether the request was in flight and had no token yet. @param atUs when it came; NaN when unknown */
  firstToken(request: number, atUs = Number.NaN): boolean {
    this.prediction.firstToken(request, atUs);
    return this.#ledger.firstToken(request);
  }

  /**
   * A placed request has ended, in any way; returns whether it was in flight.
   * @param atUs NaN when unknown
   * @param outputTokens 0 when unknown
   */
  finished(request: number, atUs = Number.NaN, outputTokens = 0): boolean {
    this.prediction.finished(request, atUs, outputTokens);
    this.#budgets.left(request);
    return this.#ledger.finished(request);
  }
}
