import type { BatchShape } from '../../src/replica/latency/contract.js';
import { type ReferenceRequest, workOf } from './request.js';

/**
 * What the step computes, as the sums that its duration depends on. A request admitted just now has no progress yet.
 */
export function shapeOf(batch: readonly ReferenceRequest[], heldTokens: number): BatchShape {
  const shape: BatchShape = {
    scheduled: 0,
    decodes: 0,
    decodeContext: 0,
    prefills: 0,
    prefillTokens: 0,
    prefillContext: 0,
    prefillFullAttention: 0,
    prefillCausalAttention: 0,
    prefillPairs: 0,
    prefillLongest: 0,
    decodeLongest: 0,
    heldTokens,
  };
  for (const request of batch) {
    const { newTokens, progress, computed } = request;
    const work = workOf(request).length;
    if (progress >= work) shape.decodeLongest = Math.max(shape.decodeLongest, progress);
    if (newTokens === 0) continue;
    shape.scheduled += 1;
    if (progress < work) {
      shape.prefills += 1;
      shape.prefillTokens += newTokens;
      shape.prefillContext += progress;
      shape.prefillFullAttention += newTokens * (work + newTokens / 2);
      shape.prefillCausalAttention += newTokens * (progress + (newTokens - 1) / 2);
      // Each new token attends to itself and to all before it, including cached ones.
      for (let before = computed - newTokens; before < computed; before++) shape.prefillPairs += before + 1;
      shape.prefillLongest = Math.max(shape.prefillLongest, computed);
    } else {
      shape.decodes += 1;
      shape.decodeContext += progress;
    }
  }
  return shape;
}

/** What the step does to one request of the batch. The first token comes out of the step that ends the prompt. */
export function advance(request: ReferenceRequest, endUs: number, durationUs: number, outputTokenUs: number): void {
  const work = workOf(request).length;
  if (request.progress < work) {
    request.progress = request.computed;
    const goesOn = request.progress === work && request.hasFirstToken;
    if (goesOn) request.tokenGapsUs.push(endUs - request.lastTokenUs + outputTokenUs);
    if (request.progress === work) request.lastTokenUs = endUs;
  } else if (request.newTokens > 0) {
    request.progress += 1;
    request.tokenGapsUs.push(durationUs + outputTokenUs);
    request.lastTokenUs = endUs;
  }
  if (request.progress === work && !request.hasFirstToken) {
    request.hasFirstToken = true;
    request.lastTokenUs = endUs;
    request.ttftUs = endUs + outputTokenUs - request.arrivalUs;
  }
}
