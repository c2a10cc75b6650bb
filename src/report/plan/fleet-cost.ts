import type { PlannedKind } from '../../experiment/plan/planned-fleet.js';

/** GPUs of a planned fleet, or what they cost, with another number of replicas. */
export function atReplicas(
  kinds: readonly PlannedKind[],
  replicas: number,
  of: (kind: PlannedKind) => number | null,
): number | null {
  const planned = kinds.reduce((sum, kind) => sum + kind.replicas, 0);
  const last = kinds.at(-1)!;
  let total = 0;
  for (const kind of kinds) {
    const value = of(kind);
    if (value === null) return null;
    total += value;
  }
  return Number((total + ((replicas - planned) * of(last)!) / last.replicas).toFixed(4));
}
