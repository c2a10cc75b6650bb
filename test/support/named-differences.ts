import { afterAll, beforeEach, expect } from 'vitest';

/**
 * Skips the tests that are named, `suite > test`, with their reasons: for suites that run against a second implementation. A name
 * that no test has fails.
 */
export function skipDifferences(differences: Readonly<Record<string, string>>): void {
  const met = new Set<string>();
  beforeEach(({ skip, task }) => {
    const name = `${task.suite?.name} > ${task.name}`;
    met.add(name);
    if (name in differences) skip(differences[name]);
  });
  afterAll(() => expect(Object.keys(differences).filter((name) => !met.has(name))).toEqual([]));
}
