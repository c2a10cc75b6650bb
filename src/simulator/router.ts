import type { Explanation } from '../policy/explanation.js';
import { contentKey } from '../policy/host/content-key.js';
import { PolicyHost } from '../policy/host/policy-host.js';
import type { PolicySettings } from '../policy/host/policy-settings.js';
import { DEFAULT_PREFIX_CAPACITY } from '../policy/host/router-ledger.js';
import { SIMULATED } from '../policy/host/worlds.js';
import type { PredictorSource } from '../policy/latency-predictor.js';
import type { SloClass } from '../policy/slo-classes.js';
import type { Replica } from '../replica/replica.js';
import type { BlockKeys } from '../replica/replica-requests.js';
import { type RequestTable, requestId } from '../workload/request-table.js';
import { CacheSignals } from './cache-signals.js';
import type { ClusterConfig, PolicyChoice } from './cluster-config.js';
import { FleetSignals } from './fleet/fleet-signals.js';
import type { TrueTimes } from './prediction/true-times.js';
import { RequestSlots } from './request-slots.js';

/**
 * The policies of a cluster, ready to decide over its replicas.
 * @param predictors how fast replicas are, for policies that predict; absent: unknown
 */
export function createHost(config: ClusterConfig, predictors?: PredictorSource): PolicyHost {
  const { instances, seed } = config;
  const allBooks = config.routingSwitch !== undefined;
  const options = { world: SIMULATED, seed, mostReplicas: instances, allBooks, predictors };
  const host = new PolicyHost(settingsOf(config, config.routing), options);
  const { replicaPrefix = 'instance_' } = config;
  host.setReplicas(Array.from({ length: instances }, (_, i) => `${replicaPrefix}${i}`));
  return host;
}

function settingsOf(config: ClusterConfig, routing: PolicyChoice): PolicySettings {
  const { admission, replica, sloPriorities, tenantBudgets } = config;
  return {
    ...{ routing, admission, sloPriorities, tenantBudgets, seatsPerReplica: replica.maxNumSeqs },
    ...{ blockSize: replica.blockSize, cacheBlocks: DEFAULT_PREFIX_CAPACITY },
  };
}

/** Shows the policy host requests as rows of the table and replicas as their signals, and nothing else of either. */
export class Router {
  readonly host: PolicyHost;
  readonly signals: FleetSignals;
  readonly #table: RequestTable;
  readonly #model: string;
  /** Blocks of the replicas' caches, and of the router's index. */
  readonly #kvBlockSize: number;
  readonly #kvKeys: BlockKeys;
  #keys: BlockKeys;
  /** When another policy takes over, and how. */
  #switchUs: number;
  readonly #switch: () => void;
  readonly #slots = new RequestSlots();
  #caches: CacheSignals | null;
  readonly #truth: TrueTimes | null;
  #kvBlocks = new Int32Array(64);
  /** By the table's index of classes and tenants. */
  readonly #classes: SloClass[] = [];
  readonly #tenants: number[] = [];
  readonly #firstBlock = new Int32Array(1);

  /**
   * @param newKeys the identity of prompts in blocks of a size; that of the replicas' blocks is the one their caches
   * have
   * @param truth for a policy that decides by it
   */
  constructor(
    config: ClusterConfig,
    host: PolicyHost,
    table: RequestTable,
    newKeys: (blockSize: number) => BlockKeys,
    replicas: readonly Replica[],
    truth: TrueTimes | null = null,
  ) {
    this.#truth = truth;
    const { blockSize } = config.replica;
    this.host = host;
    this.signals = new FleetSignals(host.view, replicas, config.snapshotRefreshUs, config.signalPhaseUs);
    this.#table = table;
    this.#model = config.replica.model;
    this.#kvBlockSize = blockSize;
    this.#kvKeys = newKeys(blockSize);
    this.#keys = newKeys(host.policies.blockSize);
    const caches = () => (host.policies.needsCaches ? new CacheSignals(replicas, config.cacheSignalDelayUs) : null);
    this.#caches = caches();
    this.#switchUs = config.routingSwitch?.atUs ?? Number.POSITIVE_INFINITY;
    this.#switch = () => {
      this.#switchUs = Number.POSITIVE_INFINITY;
      host.setPolicies(settingsOf(config, config.routingSwitch!.routing));
      this.#keys = newKeys(host.policies.blockSize);
      this.#caches = caches();
    };
  }

  /** Looks at the fleet and at a request; everything that follows decides by this. */
  look(row: number, nowUs: number): void {
    if (nowUs >= this.#switchUs) this.#switch();
    const table = this.#table;
    const sloClass = this.#classOf(table.sloClass[row]!);
    const tenant = this.#tenantOf(table.tenant[row]!);
    this.host.describe(nowUs, table.inputTokens[row]!, sloClass, tenant, table.sessions.name(table.session[row]!));
    const model = table.model[row]!;
    // All replicas serve the same model, so either all are eligible or none.
    this.#refresh(nowUs, model === 0 || table.models.name(model) === this.#model);
  }

  /** All replicas, whatever their model: what the saturation detector looks at. */
  lookAtFleet(nowUs: number): void {
    this.#refresh(nowUs, true);
  }

  /** Why the request is not admitted, or null. After `look`. */
  refuse(): string | null {
    return this.host.refuse();
  }

  /** Chooses a replica for the request, -1 when none is eligible. After `look`. */
  pick(row: number, why?: Explanation): number {
    const { host } = this;
    if (host.needsBlocks) this.#fillBlocks(row);
    if (this.#caches !== null) this.#lookUpCaches(row, this.#caches);
    this.#truth?.look(row, host.features.nowUs);
    if (host.policies.needsContentKey) host.features.contentKey = this.#contentKey(row);
    return host.pick(why);
  }

  /** The request of the last `pick` goes to this replica. */
  placed(row: number, replica: number): void {
    this.#truth?.placed(row, replica);
    this.host.placed(this.#slots.take(row), replica);
  }

  firstToken(row: number, atUs: number): void {
    this.host.firstToken(this.#slots.of(row), atUs);
  }

  /** A placed request has ended, in any way. */
  left(row: number, atUs: number, completed: boolean): void {
    const slot = this.#slots.giveBack(row);
    if (slot >= 0) this.host.finished(slot, atUs, completed ? this.#table.outputTokens[row]! : 0);
  }

  #classOf(index: number): SloClass {
    const known = this.#classes[index];
    if (known !== undefined) return known;
    const found = this.host.priorities.classOf(this.#table.sloClasses.name(index));
    this.#classes[index] = found;
    return found;
  }

  #tenantOf(index: number): number {
    const known = this.#tenants[index];
    if (known !== undefined) return known;
    const number = this.host.tenantNumber(this.#table.tenants.name(index));
    this.#tenants[index] = number;
    return number;
  }

  /** Signals of replicas that cannot serve the request are not refreshed. */
  #refresh(nowUs: number, eligible: boolean): void {
    this.host.allow(eligible);
    if (eligible) this.signals.look(nowUs);
    this.#caches?.look(nowUs);
  }

  #fillBlocks(row: number): void {
    const { features } = this.host;
    const count = Math.floor(features.inputTokens / features.blockSize);
    const shared = this.#keys.shared(row, count);
    if (features.blocks.length < shared) features.blocks = new Int32Array(shared * 2);
    features.blockCount = count;
    features.soloBlocks = count - shared;
    this.#keys.fill(row, shared, features.blocks);
  }

  #lookUpCaches(row: number, caches: CacheSignals): void {
    const { features } = this.host;
    const shared = this.#kvKeys.shared(row, Math.floor(features.inputTokens / this.#kvBlockSize));
    if (this.#kvBlocks.length < shared) this.#kvBlocks = new Int32Array(shared * 2);
    this.#kvKeys.fill(row, shared, this.#kvBlocks);
    caches.lookUp(this.#kvBlocks, shared, features.cachedBlocks);
  }

  /** A block that no other prompt has identifies nothing: then the session is the key of the prompt. */
  #contentKey(row: number): string {
    const { blockSize, inputTokens, session } = this.host.features;
    let block: number | null = null;
    if (inputTokens >= blockSize && this.#keys.shared(row, 1) > 0) {
      this.#keys.fill(row, 1, this.#firstBlock);
      block = this.#firstBlock[0]!;
    }
    return contentKey(block, session, requestId(this.#table, row));
  }
}
