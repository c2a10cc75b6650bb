import { createHash } from 'node:crypto';
import { canonicalJson } from '../../kernel/text/canonical-json.js';
import type { Explanation } from '../../policy/explanation.js';
import type { FleetView } from '../../policy/fleet-view.js';
import { contentKey } from '../../policy/host/content-key.js';
import type { HostedPolicies } from '../../policy/host/hosted-policies.js';
import { PolicyHost, type Removals } from '../../policy/host/policy-host.js';
import type { PolicySettings } from '../../policy/host/policy-settings.js';
import type { Suspicion } from '../../policy/host/suspicion.js';
import { LIVE } from '../../policy/host/worlds.js';
import { routingPolicy } from '../../policy/registry.js';
import type { RequestBody } from '../../policy/request-features.js';
import type { PolicyConfig } from '../config/gateway-config.js';
import { MOST_REPLICAS } from '../config/most-replicas.js';
import { ReplicaProfiles } from '../prediction/replica-profiles.js';
import { otherColumns } from './past-decision.js';
import { SignalView } from './signal-view.js';

/** Everything a decision is made of besides the fleet's own state. */
export interface DecisionInput {
  nowUs: number;
  /** The request id. */
  id: string;
  inputTokens: number;
  session: string;
  sloClass: string;
  /** 0 for none. */
  sloTtftUs: number;
  sloTpotUs: number;
  /** Empty for none. */
  tenant: string;
  /** Whether the first token of the response will be seen. */
  streams: boolean;
  body: RequestBody | null;
  /** Chained ids of the prompt's full blocks: the first `blockCount`. */
  blocks: Int32Array;
  blockCount: number;
  /** By slot: why the replica is not eligible, null where it is. */
  removed: Removals;
}

/** The policy settings of a live endpoint as its host takes them. */
export function hostSettings({ name, options, shadows, ...config }: PolicyConfig): PolicySettings {
  // Live, prompts are read in the gateway's blocks unless an option says otherwise: short prefixes count, and recordings show them.
  const blocks = 'block_size' in routingPolicy(name).options ? { block_size: 0 } : {};
  return { routing: { policy: name, options: { ...blocks, ...options } }, ...config };
}

/**
 * The policy host of an endpoint and the signals that its replicas reported. Its state changes by the calls below and by nothing
 * else, so the same calls in the same order give the same decisions: the gateway makes them once, `replay --decisions` makes
 * them again.
 */
export class DecidingFleet {
  config: PolicyConfig;
  /** Names the policy with all its options: the same for policies that decide alike. */
  policyHash: string;
  readonly host: PolicyHost;
  /** What replicas reported. */
  readonly signals: SignalView;
  /** How fast replicas are, as far as that is known. */
  readonly profiles: ReplicaProfiles;
  /** Blocks in the index of the replica of the last request, before that request. */
  indexedBefore = 0;
  /** What the policy reads besides the columns that every decision is recorded with. */
  otherColumns: ReturnType<typeof otherColumns>;

  constructor(config: PolicyConfig, seed: number, staleMs: number, profiles = new ReplicaProfiles()) {
    const predictors = (id: string) => profiles.predictorOf(id);
    const options = { world: LIVE, seed, mostReplicas: MOST_REPLICAS, allBooks: true, predictors };
    this.config = config;
    this.profiles = profiles;
    this.host = new PolicyHost(hostSettings(config), options);
    this.policyHash = policyHash(config, this.host.policies);
    this.otherColumns = otherColumns(this.host.policies, this.host.view, this.host.features);
    this.signals = new SignalView(MOST_REPLICAS, staleMs);
  }

  /** Another policy takes over: no replica is affected and no count is lost. */
  setPolicy(config: PolicyConfig): void {
    this.host.setPolicies(hostSettings(config));
    this.config = config;
    this.policyHash = policyHash(config, this.host.policies);
    this.otherColumns = otherColumns(this.host.policies, this.host.view, this.host.features);
  }

  /** Tokens per block of the prompts this policy looks at. */
  get blockSize(): number {
    return this.host.policies.blockSize;
  }

  /** The policy reads the text of requests. */
  get readsBody(): boolean {
    return this.host.policies.needsBody;
  }

  /** Its removals are part of every decision's input: a replay does not feed it. */
  get suspicion(): Suspicion {
    return this.host.suspicion!;
  }

  get view(): FleetView {
    return this.host.view;
  }

  /** How many leading blocks of the last request each replica was sent before, by slot. */
  get routedBlocks(): Int32Array {
    return this.host.features.routedBlocks;
  }

  slot(id: string): number {
    return this.host.slot(id);
  }

  setReplicas(ids: readonly string[]): void {
    this.profiles.keep(ids);
    this.host.setReplicas(ids);
    this.signals.keep(ids);
  }

  /** Profiles have changed: predictions are made with them from now on. */
  profilesChanged(): void {
    this.host.prediction.refresh();
  }

  /** Sets which replicas are eligible, and shows policies what all of them reported last. */
  look(nowUs: number, removed: Removals): FleetView {
    this.host.restrict(removed);
    this.signals.fill(this.host.view, nowUs);
    return this.host.view;
  }

  /** Decides and books where request number `request` goes: the slot, or -1 when every replica is removed. */
  decide(request: number, input: DecisionInput, why?: Explanation): number {
    const chosen = this.choose(input, why);
    if (chosen >= 0) this.book(request, chosen, input.streams);
    return chosen;
  }

  /** The first half of `decide`; nothing is booked. */
  choose(input: DecisionInput, why?: Explanation): number {
    const { host } = this;
    const { features } = host;
    const { blockCount, blocks, id, nowUs, session } = input;
    const sloClass = host.priorities.classOf(input.sloClass);
    host.describe(nowUs, input.inputTokens, sloClass, host.tenantNumber(input.tenant), session);
    this.look(nowUs, input.removed);
    features.sloTtftUs = input.sloTtftUs;
    features.sloTpotUs = input.sloTpotUs;
    features.body = input.body;
    features.blocks = blocks;
    features.blockCount = blockCount;
    if (host.policies.needsContentKey) {
      features.contentKey = contentKey(blockCount > 0 ? blocks[0]! : null, session, id);
    }
    return host.pick(why);
  }

  /** The second half: the request of the last choice goes to this replica. */
  book(request: number, chosen: number, streams: boolean): void {
    this.indexedBefore = this.host.view.indexedBlocks[chosen]!;
    this.host.placed(request, chosen, streams);
  }

  firstToken(request: number, atUs: number): void {
    this.host.firstToken(request, atUs);
  }

  /** @param outputTokens 0 when unknown */
  finished(request: number, atUs: number, outputTokens: number): void {
    this.host.finished(request, atUs, outputTokens);
  }
}

/** Names a policy with everything that decides: the same for policies that decide alike. */
function policyHash(config: PolicyConfig, policies: HostedPolicies): string {
  const { flowControl, seatsPerReplica, sloPriorities, tenantBudgets } = config;
  const { admission, admissionKey, routingKey } = policies;
  // What has no effect is left out.
  const text = canonicalJson({
    routingKey,
    ...(admission.admitsAll ? {} : { admissionKey }),
    ...(Object.keys(sloPriorities).length === 0 ? {} : { sloPriorities }),
    ...(Object.keys(tenantBudgets).length === 0 ? {} : { seatsPerReplica, tenantBudgets }),
    ...(flowControl === null ? {} : { flowControl }),
  });
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
