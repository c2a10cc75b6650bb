import type { PolicyChoice } from '../bundle/admission-choice.js';

/** Settings of a host that only routes. */
export const OPEN_ADMISSION: Omit<PolicySettings, 'routing' | 'blockSize' | 'cacheBlocks'> = {
  admission: { policy: 'always-admit', options: {} },
  sloPriorities: {},
  tenantBudgets: {},
  seatsPerReplica: 1,
};

/** The policies of a fleet as plain data, the same in every world. */
export interface PolicySettings {
  routing: Readonly<PolicyChoice>;
  admission: Readonly<PolicyChoice>;
  /** SLO classes whose priority differs from the built-in one. */
  sloPriorities: Readonly<Record<string, number>>;
  /** Tenant to its share of the fleet's seats, 0..1. */
  tenantBudgets: Readonly<Record<string, number>>;
  /** Requests that one replica runs at once, for tenant budgets. */
  seatsPerReplica: number;
  /** Tokens per prompt block, for policies that do not set it. */
  blockSize: number;
  /** Prompt blocks that the router remembers per replica. */
  cacheBlocks: number;
}
