import type { AdmissionPolicy } from '../contract.js';
import { numberOption } from '../options.js';

interface TokenBucketOptions {
  capacity: number;
  refill_rate: number;
}

/** A request costs its input tokens, whatever its class. Long silence fills the bucket, never beyond its capacity. */
export const tokenBucket: AdmissionPolicy<TokenBucketOptions> = {
  name: 'token-bucket',
  summary: 'Admits as many input tokens per second as flow into a bucket, and a bucketful at once.',
  goodFor:
    'A fixed budget of input tokens per second, with room for short bursts: cost control, or a limit that something behind the fleet sets.',
  notFor:
    'Protecting important requests: it does not look at SLO classes, so a large critical request is refused as readily as a batch job. It does not look at the load either and refuses on an idle fleet.',
  formula:
    'tokens = min(capacity, tokens + seconds since the last decision * refill_rate); admit and subtract when tokens >= input tokens',
  options: {
    capacity: numberOption({ default: 10_000, above: 0, help: 'tokens the bucket holds at most, and at the start' }),
    refill_rate: numberOption({ default: 1000, above: 0, help: 'tokens that flow in per second' }),
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
        // One to spare, for what is lost in rounding.
        return Math.floor(((inputTokens - tokens) * 1e6) / refill_rate) + 1;
      },
    };
  },
};
