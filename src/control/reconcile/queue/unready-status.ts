import type { Condition, Status } from '../../resources/resource.js';

/**
 * A status in which nothing holds any more: what was observed before stays, but no condition contradicts the phase.
 * @param now as conditions write it
 */
export function unreadyStatus(before: Status | null, phase: 'Failed' | 'Deleting', message: string, now: string) {
  const conditions = (before?.conditions ?? []).map(
    (one): Condition => ({ ...one, status: false, reason: phase, message, since: one.status ? now : one.since }),
  );
  return { ...before, phase, message, conditions };
}
