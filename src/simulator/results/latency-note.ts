import { type ExpectedError, type GpuFamily, UNMEASURED } from '../../replica/latency/gpu-coefficients.js';
import type { Replica } from '../../replica/replica.js';
import type { ClusterConfig } from '../cluster-config.js';
import type { LatencyNote } from '../result-document.js';

/** What the result says of its step times. @param fallsBehind errors are those near saturation, whether requests queue yet or not */
export function latencyNote(
  { fleet, replica }: Pick<ClusterConfig, 'fleet' | 'replica'>,
  replicas: readonly Pick<Replica, 'counters'>[],
  fallsBehind: boolean,
): LatencyNote {
  // Errors are known by GPU: of several together nothing is.
  if (fleet !== undefined) return { model: [...new Set(fleet.map((group) => group.replica.latencyModel))].join(', ') };
  const { latencyModel, latencyProfile, latencyFamily, hardware } = replica;
  if (latencyProfile !== undefined) return { model: latencyModel, profile: latencyProfile.name };
  if (latencyFamily === undefined) return { model: latencyModel };
  const { name, from, untried } = latencyFamily;
  const expected_error = expectedError(latencyFamily, hardware, fallsBehind || meanQueue(replicas) >= 1);
  return { model: latencyModel, coefficients: name, from, untried, expected_error };
}

/** Requests that waited for a place in a batch, on the mean over all steps. */
function meanQueue(replicas: readonly Pick<Replica, 'counters'>[]): number {
  const samples = replicas.reduce((sum, { counters }) => sum + counters.queueSamples, 0);
  return (
    samples /
    Math.max(
      1,
      replicas.reduce((sum, { counters }) => sum + counters.steps, 0),
    )
  );
}

function expectedError(family: GpuFamily, hardware: string, isNear: boolean): string {
  const { e2e, itl, ttft, ttftP99 }: ExpectedError = isNear ? family.expectedSaturated : family.expected;
  const figures = `E2E ${e2e} %, ITL ${itl} %, TTFT ${ttft} %, TTFT p99 ${ttftP99} %`;
  const load = isNear ? 'near saturation, where errors grow' : 'below saturation';
  if (family.name === UNMEASURED) return `no run on ${hardware} was measured; expect ${figures} or more (${load})`;
  return `half of measured ${family.name} runs of other models were within ${figures} (${load})`;
}
