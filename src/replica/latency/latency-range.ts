import type { LatencyModel } from './contract.js';
import type { GpuFamily } from './gpu-coefficients.js';
import type { LatencyProfile } from './profile.js';
import { profileLatency } from './profile-latency.js';
import { stepDurationUs } from './whole-us.js';

/** A latency model at both ends of what is known of its step times. */
export interface LatencyRange {
  quick: LatencyModel;
  slow: LatencyModel;
  /** In words: by how much steps differ, and why. */
  why: string;
}

/** What step times were made from. */
interface StepTimesOrigin {
  latencyFamily?: GpuFamily;
  latencyProfile?: LatencyProfile;
}

/** Null for a latency model that states no uncertainty. */
export function latencyRange(
  { latencyFamily, latencyProfile }: StepTimesOrigin,
  latency: LatencyModel,
): LatencyRange | null {
  if (latencyProfile !== undefined) return profileRange(latencyProfile);
  if (latencyFamily === undefined) return null;
  const share = latencyFamily.expected.itl / 100;
  return {
    quick: scaledLatency(latency, 1 - share),
    slow: scaledLatency(latency, 1 + share),
    why: `steps ${latencyFamily.expected.itl} % quicker or slower: the usual error of ${latencyFamily.name} coefficients`,
  };
}

function profileRange(profile: LatencyProfile): LatencyRange | null {
  const { uncertainty } = profile;
  if (uncertainty === undefined) return null;
  const { step = 0, host = 0 } = uncertainty;
  const at = (sign: number) => scaledLatency(profileLatency(withHost(profile, 1 + sign * host)), 1 + sign * step);
  const parts = [
    ...(step > 0 ? [`steps ${percent(step)} quicker or slower`] : []),
    ...(host > 0 ? [`the host's work ${percent(host)} quicker or slower, as from run to run`] : []),
  ];
  return { quick: at(-1), slow: at(1), why: parts.join(', ') };
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(2))} %`;
}

/** The profile with a host that takes so many times as long. */
export function withHost(profile: LatencyProfile, factor: number): LatencyProfile {
  const { host, requestUs } = profile.step;
  const hosted =
    host === undefined
      ? {}
      : {
          host: {
            stepUs: factor * host.stepUs,
            promptUs: factor * host.promptUs,
            promptTokenUs: factor * host.promptTokenUs,
          },
        };
  return { ...profile, step: { ...profile.step, requestUs: factor * requestUs, ...hosted } };
}

/** The model with steps that take this many times as long. */
export function scaledLatency(latency: LatencyModel, factor: number): LatencyModel {
  return { ...latency, stepUs: (shape, startUs) => stepDurationUs(factor * latency.stepUs(shape, startUs)) };
}
