import type { LatencyProfile, StepCosts } from './profile.js';

/** A profile in which every part of a step costs something, in numbers that are easy to add up. */
export function fakeProfile(changes: Partial<StepCosts> = {}): LatencyProfile {
  return {
    version: 1,
    name: 'tiny',
    model: 'qwen/qwen3-14b',
    hardware: 'H100',
    tp: 1,
    step: {
      decodeOnly: [
        { tokens: 1, us: 1000 },
        { tokens: 11, us: 1100 },
      ],
      withPrefill: [
        { tokens: 1, us: 2000 },
        { tokens: 101, us: 3000 },
      ],
      decodeContextUs: 0.5,
      mixedContextUs: 0.25,
      sharedContext: 0.75,
      unevenContextUs: 2,
      mixedUnevenContextUs: 4,
      mixedDecodeUs: 8,
      prefillPairUs: 0.01,
      prefillLongestUs: 1,
      prefillRequestUs: 16,
      requestUs: 32,
      launch: null,
      ...changes,
    },
    request: { queueingUs: 100, outputTokenUs: 5, postDecodeUs: 7 },
    scheduler: {},
  };
}
