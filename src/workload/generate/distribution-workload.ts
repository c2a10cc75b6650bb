import type { Workload } from '../workload.js';
import { type DistributionWorkload, distributionSpec } from './distribution-spec.js';
import { generateSpecWorkload } from './generate-spec-workload.js';

export type { DistributionWorkload };

/** Generates the requests that flags describe. */
export function generateWorkload(workload: DistributionWorkload, seed: number): Workload {
  return generateSpecWorkload(distributionSpec(workload), { seed });
}
