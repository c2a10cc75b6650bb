import type { WorkloadSpec } from '../workload-spec.js';

/** Makes the error for something at a path such as `clients[2].arrival.cv`. */
export type Fail = (path: string, problem: string, hint: string) => Error;

/** Something that holds between several keys; the keys themselves have been checked. Throws what `fail` makes. */
export type Rule = (spec: WorkloadSpec, fail: Fail) => void;
