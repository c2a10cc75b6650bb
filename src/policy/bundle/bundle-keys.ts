import { type Kind, number, text, whole } from '../../kernel/yaml/schema.js';
import { FLOW_CONTROL_KIND, type FlowControlKeys } from './flow-control-keys.js';

/** The policies of a fleet as they are written in a file, keys and all. What is absent was not said. */
export interface BundleKeys {
  admission?: AdmissionKeys;
  routing?: RoutingKeys;
  flow_control?: FlowControlKeys;
  priority?: { policy?: string };
  scheduler?: string;
  preemption?: { policy?: string };
  /** Tenant to its share of the fleet's seats. */
  tenant_budgets?: Record<string, number>;
  max_num_seqs?: number;
}

export interface AdmissionKeys {
  policy?: string;
  token_bucket_capacity?: number;
  token_bucket_refill_rate?: number;
  tier_shed_threshold?: number;
  tier_shed_min_priority?: number;
  gaie_qd_threshold?: number;
  gaie_kv_threshold?: number;
  slo_priorities?: Record<string, number>;
  /** Microseconds by class. */
  slo_targets?: Record<string, number>;
}

export interface RoutingKeys {
  policy?: string;
  scorers?: { name: string; weight: number }[];
  options?: Record<string, unknown>;
  block_size?: number;
  cache_blocks?: number;
}

const MOST = 2 ** 31 - 1;
/** What an option takes is its policy's business. */
const ANY_NUMBER = number(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
const NAMED = (of: string): Kind => ({
  type: 'keys',
  title: of,
  keys: { policy: { kind: text(), help: 'its name' } },
});

export const ROUTING_KIND: Extract<Kind, { type: 'keys' }> = {
  type: 'keys',
  title: 'Routing',
  keys: {
    policy: {
      kind: text(),
      default: 'weighted live, round-robin simulated',
      help: "a policy of 'twinyard decide --help'",
    },
    scorers: {
      help: 'what counts and how much, for weighted',
      kind: {
        type: 'list',
        of: {
          type: 'keys',
          title: 'A scorer',
          keys: {
            name: { kind: text(), needed: true, help: 'which' },
            weight: { kind: ANY_NUMBER, needed: true, help: 'how much it counts beside the others; above 0' },
          },
        },
      },
    },
    options: {
      kind: { type: 'each', name: 'options', of: { type: 'any' } },
      help: "the policy's options by name",
    },
    block_size: { kind: whole(1, MOST), default: '16', help: 'tokens per block of a prompt; live only' },
    cache_blocks: { kind: whole(0, MOST), default: '10000', help: 'blocks remembered per replica; live only' },
  },
};

/**
 * Every key of a policy file. Simulations and gateways read the same files by this table; each says what of it has no effect
 * on its side.
 */
export const BUNDLE_KIND: Extract<Kind, { type: 'keys' }> = {
  type: 'keys',
  title: 'A policy',
  keys: {
    routing: { kind: ROUTING_KIND, help: 'how a replica is chosen' },
    admission: {
      help: 'who may enter',
      kind: {
        type: 'keys',
        title: 'Admission',
        keys: {
          policy: { kind: text(), default: 'always-admit', help: 'an admission policy' },
          token_bucket_capacity: { kind: ANY_NUMBER, default: '10000', help: 'of token-bucket: tokens at most' },
          token_bucket_refill_rate: { kind: ANY_NUMBER, default: '1000', help: 'of token-bucket: tokens per second' },
          tier_shed_threshold: { kind: ANY_NUMBER, default: '0', help: 'of tier-shed: load up to which all may enter' },
          tier_shed_min_priority: { kind: ANY_NUMBER, default: '3', help: 'of tier-shed: who enters above it' },
          gaie_qd_threshold: { kind: ANY_NUMBER, default: '5', help: 'of gaie-legacy: queue of a full replica' },
          gaie_kv_threshold: { kind: ANY_NUMBER, default: '0.8', help: 'of gaie-legacy: KV use of a full replica' },
          slo_priorities: {
            kind: { type: 'each', name: 'classes', of: whole(-100, 100) },
            help: 'priorities by class; below 0 may be shed',
          },
          slo_targets: {
            kind: { type: 'each', name: 'classes', of: whole(1, Number.MAX_SAFE_INTEGER) },
            help: 'microseconds by class, for slo-deadline',
          },
        },
      },
    },
    flow_control: { kind: FLOW_CONTROL_KIND, default: 'off', help: 'a queue in front of the fleet' },
    tenant_budgets: {
      kind: { type: 'each', name: 'tenants', of: number(0, 1) },
      help: "shares of the fleet's seats that sheddable requests of a tenant may take",
    },
    max_num_seqs: { kind: whole(1, MOST), default: '256', help: 'seats per replica, for tenant_budgets; live only' },
    scheduler: { kind: text(), help: 'inside replicas; of simulated ones only' },
    preemption: { kind: NAMED('Preemption'), help: 'inside replicas; of simulated ones only' },
    priority: { kind: NAMED('Priority'), help: 'without effect: priorities come from classes' },
  },
};
