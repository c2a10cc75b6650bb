import { randomStream } from '../kernel/random-stream.js';
import { createTenantBudgets, type TenantBudgets } from '../policy/admission/tenant-budgets.js';
import type { RoutingPicker } from '../policy/contract.js';
import type { Explanation } from '../policy/explanation.js';
import type { Signal } from '../policy/fleet-view.js';
import { policyOptions } from '../policy/policy-options.js';
import { admissionPolicy, routingPolicy } from '../policy/registry.js';
import { createRequestFeatures, type RequestFeatures } from '../policy/request-features.js';
import { DEFAULT_PREFIX_CAPACITY, ledgerParts, RouterLedger } from '../policy/router-ledger.js';
import type { SloPriorities } from '../policy/slo-classes.js';
import type { Replica } from '../replica/replica.js';
import type { BlockKeys } from '../replica/replica-requests.js';
import { PromptKeys } from '../workload/prompt-keys.js';
import { type RequestTable, requestId } from '../workload/request-table.js';
import { CacheSignals } from './cache-signals.js';
import type { ClusterConfig } from './cluster-config.js';
import { FleetSignals } from './fleet-signals.js';
import { RequestSlots } from './request-slots.js';

/** Policies of a configuration, checked and created, and the signals they need together. */
export interface ClusterPolicies {
  picker: RoutingPicker;
  gate: TenantBudgets;
  reads: ReadonlySet<Signal>;
  /** Tokens per block of the router's index. */
  blockSize: number;
}

export function createPolicies(config: ClusterConfig, table: RequestTable): ClusterPolicies {
  const routing = routingPolicy(config.routing.policy);
  const routingOptions = policyOptions(routing, config.routing.options, '--routing-policy');
  const admission = admissionPolicy(config.admission.policy);
  const admissionOptions = policyOptions(admission, config.admission.options, '--admission-policy');
  const context = (name: string) => ({ random: randomStream(config.seed, name), replicas: config.instances });
  const budgets = new Map(
    Object.entries(config.tenantBudgets).map(([name, share]) => [table.tenants.index(name), share]),
  );
  const gate = admission.create(admissionOptions, context('admission'));
  return {
    picker: routing.create(routingOptions, context('router')),
    gate:
      budgets.size === 0
        ? { refuse: (request, view) => gate.refuse(request, view), placed: () => {}, left: () => {} }
        : createTenantBudgets(gate, budgets, config.instances * config.replica.maxNumSeqs),
    reads: new Set([...routing.reads(routingOptions), ...admission.reads(admissionOptions)]),
    blockSize: routing.blockSize?.(routingOptions) || config.replica.blockSize,
  };
}

/** The router's side of the cluster: it sees requests by their features and replicas by their signals, and nothing else. */
export class Router {
  readonly signals: FleetSignals;
  readonly features: RequestFeatures;
  readonly #table: RequestTable;
  readonly #model: string;
  /** Blocks of the replicas' caches, and of the router's index. */
  readonly #kvBlockSize: number;
  readonly #kvKeys: BlockKeys;
  readonly #keys: BlockKeys;
  readonly #priorities: SloPriorities;
  readonly #picker: RoutingPicker;
  readonly #gate: TenantBudgets;
  readonly #ledger: RouterLedger;
  readonly #slots = new RequestSlots();
  readonly #caches: CacheSignals | null;
  readonly #index: boolean;
  readonly #needsContentKey: boolean;
  #kvBlocks = new Int32Array(64);
  #eligible = true;
  /** By index of the table's SLO classes. */
  readonly #classes: { name: string; priority: number }[] = [];

  constructor(
    config: ClusterConfig,
    policies: ClusterPolicies,
    table: RequestTable,
    keys: BlockKeys,
    priorities: SloPriorities,
    replicas: readonly Replica[],
  ) {
    const reads = [...policies.reads];
    this.signals = new FleetSignals(replicas, config.snapshotRefreshUs);
    this.features = createRequestFeatures(config.instances);
    this.#table = table;
    this.#model = config.replica.model;
    this.#kvBlockSize = config.replica.blockSize;
    this.#kvKeys = keys;
    this.#keys = policies.blockSize === this.#kvBlockSize ? keys : new PromptKeys(table, policies.blockSize);
    this.features.blockSize = policies.blockSize;
    this.#priorities = priorities;
    this.#picker = policies.picker;
    this.#gate = policies.gate;
    const parts = ledgerParts(reads);
    this.#ledger = new RouterLedger(this.signals.view, { ...parts, capacity: DEFAULT_PREFIX_CAPACITY });
    const readsCaches = policies.reads.has('replicaCache');
    this.#caches = readsCaches ? new CacheSignals(replicas, config.cacheSignalDelayUs) : null;
    this.#index = parts.prefixIndex;
    this.#needsContentKey = policies.reads.has('body') || policies.reads.has('contentKey');
  }

  /** Looks at the fleet and at a request; everything that follows decides by this. */
  look(row: number, nowUs: number): void {
    const table = this.#table;
    const features = this.features;
    const sloClass = this.#classOf(table.sloClass[row]!);
    features.nowUs = nowUs;
    features.inputTokens = table.inputTokens[row]!;
    features.sloClass = sloClass.name;
    features.priority = sloClass.priority;
    features.tenant = table.tenant[row]! === 0 ? -1 : table.tenant[row]!;
    features.session = table.sessions.name(table.session[row]!);
    const model = table.model[row]!;
    this.#restrictTo(model === 0 || table.models.name(model) === this.#model);
    this.#refresh(nowUs);
  }

  #classOf(index: number): { name: string; priority: number } {
    const known = this.#classes[index];
    if (known !== undefined) return known;
    const name = this.#table.sloClasses.name(index);
    const made = { name: name === '' ? 'standard' : name, priority: this.#priorities.priorityOf(name) };
    this.#classes[index] = made;
    return made;
  }

  /** All replicas, whatever their model: what the saturation detector looks at. */
  lookAtFleet(nowUs: number): void {
    this.#restrictTo(true);
    this.#refresh(nowUs);
  }

  /** Why the request may not enter, or null. After `look`. */
  refuse(): string | null {
    return this.#gate.refuse(this.features, this.signals.view);
  }

  /** Chooses a replica for the request, -1 when none is eligible. After `look`. */
  pick(row: number, why?: Explanation): number {
    if (this.#index) this.#lookUpIndex(row);
    if (this.#caches !== null) this.#lookUpCaches(row, this.#caches);
    if (this.#needsContentKey) this.features.contentKey = this.#contentKey(row);
    return this.#picker.pick(this.features, this.signals.view, why);
  }

  /** The request of the last `pick` goes to this replica. */
  placed(row: number, replica: number): void {
    this.#ledger.placed(this.#slots.take(row), this.features, replica);
    this.#gate.placed(this.features.tenant);
    this.#picker.placed?.(this.features, replica, this.signals.view);
  }

  firstToken(row: number): void {
    this.#ledger.firstToken(this.#slots.of(row));
  }

  /** A placed request is gone, in whatever way. */
  left(row: number): void {
    const slot = this.#slots.giveBack(row);
    if (slot >= 0 && this.#ledger.finished(slot))
      this.#gate.left(this.#table.tenant[row]! === 0 ? -1 : this.#table.tenant[row]!);
  }

  /** A replica that cannot serve the request is not asked how it is. */
  #refresh(nowUs: number): void {
    if (this.#eligible) this.signals.look(nowUs);
    this.#caches?.look(nowUs);
  }

  /** All replicas serve the same model, so either all may take the request or none. */
  #restrictTo(eligible: boolean): void {
    if (eligible === this.#eligible) return;
    this.signals.view.eligible.fill(eligible ? 1 : 0);
    this.#eligible = eligible;
  }

  #lookUpIndex(row: number): void {
    const features = this.features;
    const count = Math.floor(features.inputTokens / features.blockSize);
    const shared = this.#keys.shared(row, count);
    if (features.blocks.length < shared) features.blocks = new Int32Array(shared * 2);
    features.blockCount = count;
    features.soloBlocks = count - shared;
    this.#keys.fill(row, shared, features.blocks);
    this.#ledger.lookUp(features);
  }

  #lookUpCaches(row: number, caches: CacheSignals): void {
    const shared = this.#kvKeys.shared(row, Math.floor(this.features.inputTokens / this.#kvBlockSize));
    if (this.#kvBlocks.length < shared) this.#kvBlocks = new Int32Array(shared * 2);
    this.#kvKeys.fill(row, shared, this.#kvBlocks);
    caches.lookUp(this.#kvBlocks, shared, this.features.cachedBlocks);
  }

  /** There is no text here: what the prompt begins with has a number if another prompt may begin so too. */
  #contentKey(row: number): string {
    const { inputTokens, session } = this.features;
    if (inputTokens >= this.#kvBlockSize && this.#kvKeys.shared(row, 1) > 0) {
      this.#kvKeys.fill(row, 1, this.#kvBlocks);
      return `block:${this.#kvBlocks[0]!}`;
    }
    return session === '' ? requestId(this.#table, row) : `session:${session}`;
  }
}
