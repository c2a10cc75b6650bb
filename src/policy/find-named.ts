import { type NamedKind, unknownName } from './errors.js';

/** The entry of a registry with this name; an InputError that suggests the nearest one when there is none. */
export function findNamed<Entry extends { name: string }>(
  kind: NamedKind,
  registry: readonly Entry[],
  name: string,
  place: string,
): Entry {
  const found = registry.find((entry) => entry.name === name);
  if (found === undefined) {
    const known = registry.map((entry) => entry.name);
    throw unknownName(kind, name, known, place);
  }
  return found;
}
