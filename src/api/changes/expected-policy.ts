import type { Endpoint } from '../../gateway/fleet/endpoint/endpoint.js';
import type { ApiRequest } from '../api-route.js';
import { otherPolicy } from '../errors.js';

/** What if-match names where the policy of an endpoint of the configuration file is changed. */
export const POLICY_HASH = 'the policy_hash of the policy in force';

/** Throws `API_POLICY_CHANGED` where the policy in force is not the one that the change was made for. */
export function checkPolicyHash(
  { policyHash }: Pick<Endpoint, 'policyHash'>,
  { header, params }: Pick<ApiRequest, 'header' | 'params'>,
): void {
  const asked = header('if-match');
  if (asked === undefined || asked === '*') return;
  const expected = asked.replace(/^"(.*)"$/, '$1');
  if (expected !== policyHash) throw otherPolicy(params.workspace!, params.name!, expected.slice(0, 64), policyHash);
}
