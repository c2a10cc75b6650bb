import { z } from 'zod';
import type { AdmissionPolicy } from '../contract.js';

const options = z.strictObject({
  capacity: z.number().positive().default(10_000).describe('tokens the bucket holds at most, and at the start'),
  refill_rate: z.number().positive().default(1000).describe('tokens that flow in per second'),
});

/** A request costs its input tokens, whatever its class. Long silence fills the bucket, never beyond its capacity. */
export const tokenBucket: AdmissionPolicy<z.infer<typeof options>> = {
  name: 'token-bucket',
  summary: 'Admits as many input tokens per second as flow into a bucket, and a bucketful at once.',
  options,
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
    };
  },
};
