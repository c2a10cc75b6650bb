import { randomStream } from '../../kernel/random-stream.js';
import { createTenantBudgets, type TenantBudgets } from '../../policy/admission/tenant-budgets.js';
import type { AdmissionGate } from '../../policy/contract.js';
import type { FleetView } from '../../policy/fleet-view.js';
import { policyOptions } from '../../policy/policy-options.js';
import { admissionPolicy } from '../../policy/registry.js';
import { createRequestFeatures } from '../../policy/request-features.js';
import { type SloPriorities, sloPriorities } from '../../policy/slo-classes.js';
import type { PolicyConfig } from '../config/gateway-config.js';
import type { RequestFacts } from '../request/request-facts.js';
import { TenantNumbers } from './tenant-numbers.js';

/** What is in flight, for budgets: the tenants of all requests that are on a replica, and how many replicas there are. */
export interface FleetLoad {
  replicas: number;
  /** One entry per request; '' for nobody's. */
  tenants: readonly string[];
}

/** The admission policy of an endpoint and the budgets of its tenants, through changes of policy and fleet. */
export class LiveGate {
  /** Everybody may enter: there is no need to ask. */
  isOpen = true;
  /** What the policy looks at: the tokens of the prompt, the signals of the fleet. */
  readsTokens = false;
  readsFleet = false;
  priorities: SloPriorities = sloPriorities();
  readonly #seed: number;
  readonly #mostReplicas: number;
  readonly #tenants = new TenantNumbers();
  readonly #features;
  #described = '';
  #inner: AdmissionGate = { refuse: () => null };
  #budgets: TenantBudgets | null = null;

  constructor(seed: number, mostReplicas: number) {
    this.#seed = seed;
    this.#mostReplicas = mostReplicas;
    this.#features = createRequestFeatures(mostReplicas);
  }

  /**
   * Takes a policy on. What the admission policy has learnt (how full its bucket is) stays as long as that policy and its
   * options do; who is in flight is counted again.
   */
  configure({ admission, ...policy }: PolicyConfig, load: FleetLoad): void {
    const described = JSON.stringify(admission);
    if (described !== this.#described) {
      const found = admissionPolicy(admission.policy, 'admission');
      const options = policyOptions(found, admission.options, 'admission');
      const random = randomStream(this.#seed, 'admission');
      this.#inner = found.create(options, { random, replicas: this.#mostReplicas });
      this.readsTokens = admission.policy !== 'always-admit';
      this.readsFleet = found.reads(options).length > 0;
      this.#described = described;
    }
    this.priorities = sloPriorities(policy.sloPriorities);
    this.#budgets = this.#budgetsOf(policy, load);
    this.isOpen = !this.readsTokens && this.#budgets === null;
  }

  /** Why the request may not enter, or null. */
  refuse({ sloClass, tenant }: RequestFacts, inputTokens: number, nowUs: number, view: FleetView): string | null {
    const features = this.#features;
    features.nowUs = nowUs;
    features.inputTokens = inputTokens;
    features.sloClass = sloClass;
    features.priority = this.priorities.priorityOf(sloClass);
    features.tenant = this.#tenants.of(tenant);
    return (this.#budgets ?? this.#inner).refuse(features, view);
  }

  /** When the request that was refused just now would enter: in microseconds, Infinity for never, NaN when nobody knows. */
  retryAfterUs(): number {
    return (this.#budgets ?? this.#inner).retryAfterUs?.(this.#features) ?? Number.NaN;
  }

  placed(tenant: string): void {
    if (this.#budgets !== null) this.#budgets.placed(this.#tenants.of(tenant));
  }

  left(tenant: string): void {
    if (this.#budgets !== null) this.#budgets.left(this.#tenants.of(tenant));
  }

  #budgetsOf(policy: Omit<PolicyConfig, 'admission'>, { replicas, tenants }: FleetLoad): TenantBudgets | null {
    const shares = Object.entries(policy.tenantBudgets);
    if (shares.length === 0) return null;
    const byNumber = new Map(shares.map(([name, share]) => [this.#tenants.keep(name), share]));
    const budgets = createTenantBudgets(this.#inner, byNumber, replicas * policy.seatsPerReplica);
    for (const tenant of tenants) budgets.placed(this.#tenants.of(tenant));
    return budgets;
  }
}
