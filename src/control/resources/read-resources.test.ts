import { describe, expect, it } from 'vitest';
import { InvalidResources } from './errors.js';
import { readResources, resourceKey } from './read-resources.js';

const WORKSPACE = 'apiVersion: twinyard/v1\nkind: Workspace\nmetadata: {name: a}\nspec: {}\n';

function messages(text: string): string[] {
  try {
    readResources(text, 'f.yaml');
    return [];
  } catch (error) {
    return error instanceof InvalidResources
      ? error.problems.map(({ message }) => message)
      : [(error as Error).message];
  }
}

describe('readResources', () => {
  it('reads several documents, skips empty ones, and knows the place of every field', () => {
    const read = readResources(`# first\n---\n${WORKSPACE}---\n---\n${WORKSPACE.replace('a}', 'b}')}`, 'f.yaml');
    expect(read.map(({ resource }) => resourceKey(resource))).toEqual(['Workspace a', 'Workspace b']);
    expect(read[1]!.placeOf('metadata.name')).toBe('f.yaml:11:18 (metadata.name)');
  });

  it('accepts $schema', () => {
    const [read] = readResources(`$schema: resources.json\n${WORKSPACE}`, 'f.yaml');
    expect(read!.resource).not.toHaveProperty('$schema');
  });

  it('names file, line, column and path of every problem in all documents', () => {
    const second = 'apiVersion: twinyard/v1\nkind: Role\nmetadata:\n  name: r\nspec:\n  rol: admin\n  api_keys: []\n';
    expect(messages(`${WORKSPACE}---\n${second}---\nkind: Rôle\n---\nmetadata: {}\n`)).toEqual([
      'f.yaml:10:1 (spec.role): is missing; give one of viewer, operator, admin',
      "f.yaml:11:8 (spec.rol): unknown key 'rol'; did you mean 'role'? known: role, api_keys",
      'f.yaml:12:3 (spec.api_keys): is empty; give a list of at most 1000, each a name of a-z, 0-9 and -, at most 63 characters',
      "f.yaml:14:7 (kind): unknown kind 'Rôle'; did you mean 'Role'? known: Workspace, Role, ApiKey, Engine, Cluster, ModelRegistry, Endpoint, ExternalEndpoint",
      'f.yaml:16:1 (kind): is missing; give one of Workspace, Role, ApiKey, Engine, Cluster, ModelRegistry, Endpoint, ExternalEndpoint',
    ]);
  });

  it('reports the number of further problems in one line', () => {
    expect(() => readResources(WORKSPACE.replace('{}', '{a: 1, b: 2}'), 'f.yaml')).toThrow(/\(and 1 more\)$/);
  });

  it('refuses invalid YAML, a resource given twice, and an empty file', () => {
    expect(messages('a: [')[0]).toMatch(/^f\.yaml:\d+:\d+: .*; write plain YAML or JSON$/);
    expect(messages(`${WORKSPACE}---\n${WORKSPACE}`)).toEqual([
      'f.yaml:8:18 (metadata.name): Workspace a is described twice; keep one of the two',
    ]);
    for (const text of ['', '# nothing\n', '---\n---\n']) {
      expect(messages(text)).toEqual(["f.yaml: holds no resource; begin with 'apiVersion: twinyard/v1'"]);
    }
    expect(messages('[]')[0]).toContain('f.yaml:1:1: is not a resource');
  });

  it('refuses aliases that grow without end, and aliases without an anchor', () => {
    const lines = ['a0: &a0 [x, x]'];
    for (let i = 1; i < 12; i++) lines.push(`a${i}: &a${i} [*a${i - 1}, *a${i - 1}, *a${i - 1}]`);
    expect(messages(lines.join('\n'))[0]).toMatch(/alias/i);
    expect(messages('kind: *nothing')[0]).toMatch(/alias/i);
  });
});
