import { scorersOption } from '../../policy/bundle/scorers-option.js';
import type { RoutingPolicy } from '../../policy/contract.js';
import { policyOptions } from '../../policy/policy-options.js';
import { routingPolicy } from '../../policy/registry.js';
import type { PolicyChoice } from '../../simulator/cluster-config.js';
import type { PolicyBundle } from '../../simulator/policy-bundle.js';
import type { Diagnostics } from '../diagnostics.js';
import { conflictingFlags } from '../errors.js';
import type { ClusterFlags } from '../flags/cluster-flags.js';
import type { FlagValues } from '../flags/flag.js';

/** The routing policy with all its options: flags first, then the bundle, then the policy's own defaults. */
export function resolveRouting(
  flags: FlagValues<ClusterFlags>,
  bundle: PolicyBundle | null,
  diagnostics: Diagnostics,
  ignoresIdleFlags: boolean,
): PolicyChoice {
  const byFlag = flags.given('routing-policy');
  const inBundle = bundle?.routing ?? {};
  const name = byFlag ? flags.values['routing-policy'] : (inBundle.policy ?? flags.values['routing-policy']);
  const place = byFlag || bundle === null ? '--routing-policy' : bundle.place('routing.policy');
  const policy = routingPolicy(name, place);

  // Options of a policy file belong to the policy it names; they are ignored when a flag chooses another one.
  const bundleApplies = inBundle.policy === undefined || inBundle.policy === name;
  const options: Record<string, unknown> = bundleApplies ? { ...inBundle.options } : {};
  const scorers = flags.values['routing-scorers'];
  if (scorers !== null) {
    const hint = 'add --routing-policy weighted';
    options.scorers = scorersOption(policy, scorers, '--routing-scorers', hint, diagnostics.warn);
  } else if (bundleApplies && inBundle.scorers !== undefined) {
    const hint = "write 'policy: weighted'";
    const scorersPlace = bundle!.place('routing.scorers');
    options.scorers = scorersOption(policy, inBundle.scorers, scorersPlace, hint, diagnostics.warn);
  }
  if (flags.given('tie-break')) {
    const tieBreak = flags.values['tie-break'];
    if (takes(policy, 'tie_break')) options.tie_break = tieBreak;
    else if (tieBreak !== 'first' && !ignoresIdleFlags)
      throw noSuchOption(policy, '--tie-break', "give 'first', or leave it out");
  }
  const optionsPlace = bundle === null ? '--routing-policy' : bundle.place('routing.options');
  return { policy: name, options: { ...(policyOptions(policy, options, optionsPlace) as Record<string, unknown>) } };
}

function takes(policy: RoutingPolicy, option: string): boolean {
  return Object.hasOwn(policy.options as object, option);
}

function noSuchOption(policy: RoutingPolicy, place: string, hint: string): Error {
  return conflictingFlags(place, `has no effect with the routing policy ${policy.name}`, hint);
}
