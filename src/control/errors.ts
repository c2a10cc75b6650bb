import { RunError } from '../kernel/errors.js';

/** What keeps a control plane from opening. Codes are stable and start with CONTROL_. */

export const otherControlPlane = (store: string, place: string) =>
  new RunError('CONTROL_ELSEWHERE', `${store}: the control plane of ${place} keeps its resources true`);

/** A gateway can do without a control plane where there is another one, or where engines cannot be run. */
export const isControlElsewhere = (error: unknown) =>
  error instanceof RunError && ['CONTROL_ELSEWHERE', 'RUNNER_IN_USE', 'RUNNER_PLATFORM'].includes(error.code);
