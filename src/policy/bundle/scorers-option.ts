import type { RoutingPolicy } from '../contract.js';
import { idleFileKey } from '../errors.js';
import { lonePrefixAffinityWarning, parseScorers } from '../scoring/parse-scorers.js';

/** Scorers as the option that a policy takes, in any notation; problems that are not errors go to `warn`. */
export function scorersOption(
  policy: RoutingPolicy,
  given: Parameters<typeof parseScorers>[0],
  place: string,
  hint: string,
  warn: (line: string) => void,
): string {
  if (!Object.hasOwn(policy.options as object, 'scorers')) {
    const problem = `has no effect with the routing policy ${policy.name}`;
    throw idleFileKey(place, problem, `scorers do not choose the policy: ${hint}, or leave them out`);
  }
  const scorers = parseScorers(given, place);
  const warning = lonePrefixAffinityWarning(scorers);
  if (warning !== null) warn(`${place}: ${warning}`);
  return scorers.map(({ name, weight }) => `${name}:${weight}`).join(',');
}
