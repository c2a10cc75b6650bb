import type { SpecPart } from './compose-specs.js';
import { hasRate, isCohort, trafficOf, windowsOf } from './walk.js';
import type { ClientSpec, CohortSpec } from './workload-spec.js';

/** What several specifications cannot have in common. */
export function dropped(parts: readonly SpecPart[]): string[] {
  return parts.flatMap(({ path, spec: { seed, num_requests } }) => [
    ...(seed === undefined ? [] : [`${path}: seed ${seed} is left out; set --seed when you run it`]),
    ...(num_requests === undefined
      ? []
      : [`${path}: num_requests ${num_requests} is left out; set --num-requests when you run it`]),
  ]);
}

/** Two files may have meant different prefixes by one name. */
export function sharedGroups(parts: readonly SpecPart[]): string[] {
  const notes: string[] = [];
  const owners = new Map<string, string>();
  for (const { path, spec } of parts) {
    for (const group of new Set([...trafficOf(spec)].map(({ traffic }) => traffic.prefix_group))) {
      if (group === undefined) continue;
      const owner = owners.get(group);
      if (owner === undefined) owners.set(group, path);
      else notes.push(`${path}: prefix_group '${group}' is that of ${owner} too: they share one prefix`);
    }
  }
  return notes;
}

/** A share is relative to all that are active at the same time. */
export function changedRates(parts: readonly SpecPart[]): string[] {
  const changed = parts.filter(
    ({ spec }) =>
      parts.length > 1 &&
      (spec.aggregate_rate ?? 0) > 0 &&
      [...trafficOf(spec)].some(({ traffic }) => hasRate(traffic) && isAtTimesInactive(traffic)),
  );
  const note =
    'clients that are not always active share the rate with all that are active then, including those of other files';
  return changed.map(({ path }) => `${path}: ${note}`);
}

function isAtTimesInactive(traffic: ClientSpec | CohortSpec): boolean {
  if (!isCohort(traffic)) return windowsOf(traffic).length > 0;
  return (traffic.diurnal ?? traffic.spike ?? traffic.drain) !== undefined;
}
