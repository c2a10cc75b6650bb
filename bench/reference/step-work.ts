import type { BatchShape } from '../../src/replica/latency/contract.js';
import type { ReferenceRequest } from './request.js';

/** What the step computes, as the sums that its duration depends on. A request admitted just now has no progress yet. */
export function shapeOf(batch: readonly ReferenceRequest[]): BatchShape {
  const shape: BatchShape = {
    scheduled: 0,
    decodes: 0,
    decodeContext: 0,
    prefills: 0,
    prefillTokens: 0,
    prefillContext: 0,
    prefillFullAttention: 0,
    prefillCausalAttention: 0,
  };
  for (const { newTokens, progress, prompt } of batch) {
    if (newTokens === 0) continue;
    shape.scheduled += 1;
    if (progress < prompt.length) {
      shape.prefills += 1;
      shape.prefillTokens += newTokens;
      shape.prefillContext += progress;
      shape.prefillFullAttention += newTokens * (prompt.length + newTokens / 2);
      shape.prefillCausalAttention += newTokens * (progress + (newTokens - 1) / 2);
    } else {
      shape.decodes += 1;
      shape.decodeContext += progress;
    }
  }
  return shape;
}

/** What the step does to one request of the batch. The first token comes out of the step that ends the prompt. */
export function advance(request: ReferenceRequest, endUs: number, durationUs: number, outputTokenUs: number): void {
  const input = request.prompt.length;
  if (request.progress < input) {
    request.progress = request.computed;
  } else if (request.newTokens > 0) {
    request.progress += 1;
    request.tokenGapsUs.push(durationUs + outputTokenUs);
  }
  if (request.progress === input && !request.hasFirstToken) {
    request.hasFirstToken = true;
    request.ttftUs = endUs + outputTokenUs - request.arrivalUs;
  }
}
