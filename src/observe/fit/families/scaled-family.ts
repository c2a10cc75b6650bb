import type { RequestCosts, StepCosts, TokenPoint } from '../../../replica/latency/profile.js';
import type { ProfileFamily } from './profile-family.js';

/** Where a profile has no cost of a kind, the search starts at so little. */
const LEAST_US = 0.5;
const LEAST_QUEUEING_US = 1000;

/** Profiles like a given one, up to factors on its parts: for engines whose steps were measured, or that resemble another. */
export function scaledFamily(step: StepCosts, request: RequestCosts, doubt: number): ProfileFamily {
  const { slowdown } = step;
  return {
    parameters: [
      { name: 'fixed_factor', start: 1, doubt },
      { name: 'tokens_factor', start: 1, doubt },
      { name: 'context_factor', start: 1, doubt },
      { name: 'request_us', start: Math.max(LEAST_US, step.requestUs), doubt: 0.5 },
      { name: 'queueing_us', start: Math.max(LEAST_QUEUEING_US, request.queueingUs), doubt: 1 },
    ],
    costsOf: ([fixed, tokens, context, requestUs, queueingUs]) => ({
      step: {
        ...step,
        decodeOnly: scaled(step.decodeOnly, fixed!, tokens!),
        withPrefill: scaled(step.withPrefill, fixed!, tokens!),
        decodeContextUs: step.decodeContextUs * context!,
        mixedContextUs: step.mixedContextUs * context!,
        unevenContextUs: step.unevenContextUs * context!,
        mixedUnevenContextUs: step.mixedUnevenContextUs * context!,
        prefillPairUs: step.prefillPairUs * tokens!,
        prefillLongestUs: step.prefillLongestUs * tokens!,
        requestUs: requestUs!,
        ...(slowdown === undefined ? {} : { slowdown: { ...slowdown, tokenUs: slowdown.tokenUs * tokens! } }),
      },
      request: { ...request, queueingUs: Math.round(queueingUs!) },
    }),
  };
}

/** The time of the smallest step by one factor, what more tokens add to it by another. */
function scaled(curve: readonly TokenPoint[], fixed: number, more: number): TokenPoint[] {
  const least = curve[0]!.us;
  return curve.map(({ tokens, us }) => ({ tokens, us: fixed * least + more * (us - least) }));
}
