import { RunError } from '../../../kernel/errors.js';
import { RunnerFault } from '../errors.js';

/** Errors of the Ray runner. Codes are stable and start with RUNNER_. */

export const noRayNode = (id: string) =>
  new RunError('RUNNER_NOT_STARTED', `replica '${id}': the Ray cluster has no live node`);

export const jobRemains = (id: string) =>
  new RunError(
    'RUNNER_WILL_NOT_END',
    `replica '${id}': its Ray job has not ended after its grace time; its node may be lost`,
  );

export const rayUnwatched = (problem: string) =>
  new RunnerFault(`${problem}; its replicas are served as they were seen last`);
