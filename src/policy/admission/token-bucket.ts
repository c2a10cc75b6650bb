import { above, field } from '../../schema/fields.js';
import type { AdmissionPolicy } from '../contract.js';

interface TokenBucketOptions {
  capacity: number;
  refill_rate: number;
}

/** A request costs its input tokens, in any class. Idle time fills the bucket, up to its capacity. */
export const tokenBucket: AdmissionPolicy<TokenBucketOptions> = {
  name: 'token-bucket',
  summary: 'Admits input tokens up to a rate per second, with bursts up to the capacity of the bucket.',
  goodFor:
    'A fixed budget of input tokens per second, with room for short bursts: cost control, or the limit of a system that the fleet depends on.',
  notFor:
    'Protecting important requests: it does not look at SLO classes, so it refuses a large critical request as readily as a batch job. It does not look at the load either, so it refuses on an idle fleet.',
  formula:
    'tokens = min(capacity, tokens + seconds since the last decision * refill_rate); admit and subtract when tokens >= input tokens',
  options: {
    capacity: field(above(0), {
      default: 10_000,
      help: 'tokens the bucket holds at most, and at the start',
      flag: { name: 'token-bucket-capacity' },
      fileKey: 'token_bucket_capacity',
    }),
    refill_rate: field(above(0), {
      default: 1000,
      help: 'tokens added per second',
      flag: { name: 'token-bucket-refill-rate' },
      fileKey: 'token_bucket_refill_rate',
    }),
  },
  reads: () => [],
  create({ capacity, refill_rate }) {
    let tokens = capacity;
    let lastUs = 0;
    return {
      refuse(request) {
        const elapsedUs = request.nowUs - lastUs;
        if (elapsedUs > 0) {
          tokens = Math.min(capacity, tokens + (elapsedUs * refill_rate) / 1e6);
          lastUs = request.nowUs;
        }
        if (tokens < request.inputTokens) return 'insufficient tokens';
        tokens -= request.inputTokens;
        return null;
      },
      retryAfterUs({ inputTokens }) {
        if (inputTokens > capacity) return Number.POSITIVE_INFINITY;
        // One more, for what rounding loses.
        return Math.floor(((inputTokens - tokens) * 1e6) / refill_rate) + 1;
      },
      shortfall: ({ inputTokens }) => ({
        ...{ name: 'tokens in the bucket', value: tokens, needed: 'at least', bound: inputTokens },
      }),
    };
  },
};
