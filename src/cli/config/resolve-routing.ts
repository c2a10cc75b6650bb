import type { RoutingPolicy } from '../../policy/contract.js';
import { policyOptions } from '../../policy/policy-options.js';
import { routingPolicy } from '../../policy/registry.js';
import { lonePrefixAffinityWarning, parseScorers } from '../../policy/scoring/parse-scorers.js';
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
): PolicyChoice {
  const byFlag = flags.given('routing-policy');
  const inBundle = bundle?.routing ?? {};
  const name = byFlag ? flags.values['routing-policy'] : (inBundle.policy ?? flags.values['routing-policy']);
  const place = byFlag || bundle === null ? '--routing-policy' : bundle.place('routing.policy');
  const policy = routingPolicy(name, place);

  // A bundle's options belong to the policy it names; a flag that chooses another one leaves them behind.
  const bundleApplies = inBundle.policy === undefined || inBundle.policy === name;
  const options: Record<string, unknown> = bundleApplies ? { ...inBundle.options } : {};
  const scorers = flags.values['routing-scorers'];
  if (scorers !== null) {
    refuseWithout(policy, 'scorers', '--routing-scorers', 'add --routing-policy weighted');
    options.scorers = canonicalScorers(scorers, '--routing-scorers', diagnostics);
  } else if (bundleApplies && inBundle.scorers !== undefined) {
    const scorersPlace = bundle!.place('routing.scorers');
    refuseWithout(policy, 'scorers', scorersPlace, "write 'policy: weighted'");
    options.scorers = canonicalScorers(inBundle.scorers, scorersPlace, diagnostics);
  }
  if (flags.given('tie-break')) {
    const tieBreak = flags.values['tie-break'];
    if (takes(policy, 'tie_break')) options.tie_break = tieBreak;
    else if (tieBreak !== 'first') throw noSuchOption(policy, '--tie-break', "give 'first', or leave it out");
  }
  const optionsPlace = bundle === null ? '--routing-policy' : bundle.place('routing.options');
  return { policy: name, options: { ...(policyOptions(policy, options, optionsPlace) as Record<string, unknown>) } };
}

/** Scorers as text, however they were written. */
function canonicalScorers(given: Parameters<typeof parseScorers>[0], place: string, diagnostics: Diagnostics): string {
  const scorers = parseScorers(given, place);
  const warning = lonePrefixAffinityWarning(scorers);
  if (warning !== null) diagnostics.warn(`${place}: ${warning}`);
  return scorers.map(({ name, weight }) => `${name}:${weight}`).join(',');
}

function takes(policy: RoutingPolicy, option: string): boolean {
  return Object.hasOwn(policy.options as object, option);
}

function refuseWithout(policy: RoutingPolicy, option: string, place: string, remedy: string): void {
  if (!takes(policy, option))
    throw noSuchOption(policy, place, `scorers do not choose the policy: ${remedy}, or leave them out`);
}

function noSuchOption(policy: RoutingPolicy, place: string, remedy: string): Error {
  return conflictingFlags(place, `has no effect with the routing policy ${policy.name}`, remedy);
}
