import { describe, expect, it } from 'vitest';
import { memoryBytes } from './parts.js';
import { readResources } from './read-resources.js';

const head = (kind: string) => `apiVersion: twinyard/v1\nkind: ${kind}\nmetadata: {name: x}\n`;

describe('a spec', () => {
  it.each(['Workspace', 'ApiKey'])('of %s may be left out', (kind) => {
    const [without, bare, empty] = [head(kind), `${head(kind)}spec:\n`, `${head(kind)}spec: {}\n`].map(
      (text) => readResources(text, 'f')[0]!.resource,
    );
    expect(without).toEqual(empty);
    expect(bare).toEqual(empty);
  });

  it.each([
    ['Endpoint', 'spec.engine'],
    ['Role', 'spec.role'],
    ['Engine', 'spec.versions'],
  ])('of %s may not: the message names the first field that is missing', (kind, missing) => {
    for (const text of [head(kind), `${head(kind)}spec:\n`, `${head(kind)}spec: ~\n`]) {
      expect(() => readResources(text, 'f')).toThrow(`(${missing}): is missing; give`);
    }
  });
});

describe('memory', () => {
  const memoryOf = (amount: string) => {
    const spec = `engine: {name: emulator}, model: {name: m}, resources: {memory: ${amount}}`;
    const { resource } = readResources(`${head('Endpoint')}spec: {${spec}}\n`, 'f')[0]!;
    return memoryBytes((resource.spec as { resources: { memory: string } }).resources.memory);
  };

  it.each([
    ['48.0 GiB', 48 * 2 ** 30],
    ['48GiB', 48 * 2 ** 30],
    ['48Gi', 48 * 2 ** 30],
    ['512 MiB', 512 * 2 ** 20],
    ['0.5 GiB', 2 ** 29],
    ['1.5Ti', 1.5 * 2 ** 40],
  ])('is accepted as it is printed: %s', (amount, bytes) => {
    expect(memoryOf(amount)).toBe(bytes);
  });

  it.each(['0 GiB', '0.0 GiB', '48 GB', '-1Gi', '48', '1e3Gi'])('%s is refused', (amount) => {
    expect(() => memoryOf(amount)).toThrow("an amount such as '512Mi', '16Gi' or '48.0 GiB'");
  });
});
