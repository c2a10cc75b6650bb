import { policyOptions } from '../../policy/policy-options.js';
import { routingPolicy } from '../../policy/registry.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import type { ClusterConfig, PolicyChoice } from '../../simulator/cluster-config.js';
import type { AskedFleet, GatewayWorld, WhatIfQuestion } from './whatif-question.js';

const SEED = 42;

/** What a simulated cluster takes over from the one that was recorded: its number of replicas and the time that routing takes. */
export interface ServedFleet {
  readonly routingUs: number;
  readonly trace: { readonly observed: { readonly served: { readonly replicas: readonly string[] } } };
}

/** The simulated cluster of an alternative, whose router sees what a live gateway would see. */
export function askedConfig(
  { gateway }: WhatIfQuestion,
  { routingUs, trace }: ServedFleet,
  replica: ReplicaModelConfig,
  asked: AskedFleet,
): ClusterConfig {
  return {
    instances: asked.replicas ?? trace.observed.served.replicas.length,
    seed: SEED,
    horizonUs: null,
    replica,
    admission: asked.admission ?? { policy: 'always-admit', options: {} },
    tenantBudgets: asked.tenantBudgets ?? {},
    sloPriorities: asked.sloPriorities ?? {},
    admissionLatencyUs: 0,
    flowControl: asked.flowControl ?? null,
    routing: liveRouting(asked.routing, gateway),
    routingLatencyUs: routingUs,
    snapshotRefreshUs: gateway.signalsUs,
    signalPhaseUs: Math.round(gateway.signalsUs / 2),
    cacheSignalDelayUs: 0,
    traceLevel: 'none',
    counterfactualK: 0,
    summarizeTrace: false,
    fitnessWeights: {},
    goodputTargets: {},
  };
}

/** Whether a policy decides by what a recording does not have. */
export function readsText({ options, policy }: PolicyChoice): boolean {
  const known = routingPolicy(policy, '--policy');
  return known.reads(policyOptions(known, options, '--policy-option')).includes('body');
}

/** A policy with the defaults that a live gateway gives it: ties are drawn, and prompts are read in the gateway's blocks. */
function liveRouting({ options, policy }: PolicyChoice, { blockSize }: GatewayWorld): PolicyChoice {
  const known = routingPolicy(policy, '--policy').options;
  return {
    policy,
    options: {
      ...('tie_break' in known ? { tie_break: 'random' } : {}),
      ...options,
      ...('block_size' in known ? { block_size: options.block_size || blockSize } : {}),
    },
  };
}
