import { policyOptions } from '../../policy/policy-options.js';
import { admissionPolicy, routingPolicy } from '../../policy/registry.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import type { PolicyChoice } from '../../simulator/cluster-config.js';
import { onOtherGpu } from '../../twin/whatif/engines/other-gpu.js';
import type { AskedFleet } from '../../twin/whatif/whatif-question.js';
import { checkFlowControl } from '../config/flag-conflicts.js';
import { resolveFlowControl } from '../config/resolve-flow-control.js';
import type { Diagnostics } from '../diagnostics.js';
import { conflictingFlags, missingFlag } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { ServedSettings } from './fetch-recording.js';
import type { WhatIfFlags } from './whatif-flags.js';

/**
 * The fleets that flags ask for, one for each policy.
 * @param replica the recorded engines
 * @param served how requests were decided, where it is known: what no flag sets stays
 */
export function askedFleets(
  flags: FlagValues<WhatIfFlags>,
  replica: ReplicaModelConfig,
  served: ServedSettings | null,
  diagnostics: Diagnostics,
): AskedFleet[] {
  const { values } = flags;
  checkQueue(flags);
  const isAdmission = flags.given('admission') || flags.given('admission-option');
  const admission = isAdmission || served === null ? admissionOf(flags) : served.admission;
  const asked = resolveFlowControl(flags, null, diagnostics);
  const flowControl = values['no-queue'] ? null : (asked ?? served?.flowControl ?? null);
  const classes = served === null ? {} : { sloPriorities: served.sloPriorities, tenantBudgets: served.tenantBudgets };
  if (values.gpu !== null) onOtherGpu(replica, values.gpu, '--gpu');
  return routingsOf(flags, served?.routing ?? null).map((routing) => ({
    routing,
    admission,
    flowControl,
    ...classes,
    ...(values.replicas === null ? {} : { replicas: values.replicas }),
    ...(values.gpu === null ? {} : { gpu: values.gpu }),
  }));
}

/** Throws for flags that no gateway makes right. */
export function checkAsked(flags: FlagValues<WhatIfFlags>): void {
  checkQueue(flags);
  admissionOf(flags);
  if (flags.values.policy !== null) routingsOf(flags, null);
}

function checkQueue(flags: FlagValues<WhatIfFlags>): void {
  checkFlowControl(flags);
  if (!flags.values['no-queue'] || !flags.values['flow-control']) return;
  throw conflictingFlags('--no-queue', 'given together with --flow-control', 'keep one of them');
}

function routingsOf({ values }: FlagValues<WhatIfFlags>, served: PolicyChoice | null): PolicyChoice[] {
  const { policy: names, 'policy-option': given } = values;
  if (names === null) {
    if (served === null) {
      const hint = 'name a routing policy, as in --policy lmetric; that of the recording where only the fleet changes';
      throw missingFlag('--policy', 'is required: a recording does not say which policy decided', hint);
    }
    return [checkedRouting(served.policy, { ...served.options, ...given })];
  }
  const policies = names.map((name) => routingPolicy(name, '--policy'));
  for (const option of Object.keys(given)) {
    if (policies.length < 2 || policies.some((policy) => option in policy.options)) continue;
    const problem = `no policy of --policy has an option '${option}'`;
    throw conflictingFlags('--policy-option', problem, `run twinyard whatif once for each policy to see its options`);
  }
  return policies.map((policy) => {
    const own = Object.entries(given).filter(([option]) => policies.length < 2 || option in policy.options);
    return checkedRouting(policy.name, Object.fromEntries(own));
  });
}

/** Options are checked here; defaults are those of a live gateway, which the question fills in. */
function checkedRouting(policy: string, options: Record<string, unknown>): PolicyChoice {
  policyOptions(routingPolicy(policy, '--policy'), options, '--policy-option');
  return { policy, options };
}

function admissionOf({ values }: FlagValues<WhatIfFlags>): PolicyChoice {
  const policy = admissionPolicy(values.admission, '--admission');
  const options = policyOptions(policy, values['admission-option'], '--admission-option');
  return { policy: policy.name, options: options as Record<string, unknown> };
}
