import type { WorkloadSpec } from '../workload-spec.js';

/** Creates the error for a path such as `clients[2].arrival.cv`. */
export type Fail = (path: string, problem: string, hint: string) => Error;

/** A rule between several keys, which are themselves checked already. Throws the error that `fail` creates. */
export type Rule = (spec: WorkloadSpec, fail: Fail) => void;
