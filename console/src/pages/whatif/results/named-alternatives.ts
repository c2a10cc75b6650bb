import type { WhatIf } from '../documents';
import { type AskedPolicy, policyText } from '../question';

/** The result with the options in the names of policies that were asked about more than once. */
export function namedAlternatives(result: WhatIf, asked: readonly AskedPolicy[]): WhatIf {
  const isTwice = ({ policy }: AskedPolicy) => asked.filter((one) => one.policy === policy).length > 1;
  if (!asked.some(isTwice)) return result;
  const alternatives = result.alternatives.map((one, i) => {
    const own = asked[i];
    if (own === undefined || !isTwice(own)) return one;
    const name = one.name.replace(own.policy, () => policyText(own));
    return { ...one, name, verdict: one.verdict.replace(one.name, () => name) };
  });
  return { ...result, alternatives, verdict: alternatives.map(({ verdict }) => verdict).join(' ') };
}
