import { Ajv2020 } from 'ajv/dist/2020.js';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { jsonSchema } from '../../schema/json-schema.js';
import { checkedResource, checkResource } from './check-resource.js';
import type { ResourceKind } from './kind.js';
import { NAME } from './parts.js';
import { readResources } from './read-resources.js';
import { API_VERSION } from './resource.js';

const at = (path: string) => `here (${path})`;

/** What every kind of resource promises. */
export function kindContract(kind: ResourceKind): void {
  const written = (more: object = {}) => ({
    apiVersion: API_VERSION,
    kind: kind.kind,
    metadata: { name: 'some', ...more },
    spec: structuredClone(kind.example),
  });
  const problems = (value: unknown) => {
    const checked = checkResource(value, at);
    return 'problems' in checked ? checked.problems : [];
  };

  describe(kind.kind, () => {
    it('has names that can be parts of addresses, and a sentence about it', () => {
      for (const name of [kind.plural, ...kind.shortNames]) expect(name).toMatch(NAME);
      expect(kind.kind).toMatch(/^[A-Z][A-Za-z]+$/);
      expect(kind.summary).toMatch(/^[A-Z].*\.$/);
      expect(kind.columns.length).toBeGreaterThan(0);
      // An ApiKey is removed at once.
      if (kind.kind !== 'ApiKey') expect(kind.phases).toContain('Deleting');
    });

    it('accepts its example, fills in defaults idempotently, and round-trips', () => {
      const resource = checkedResource(written(), at);
      expect(resource.metadata.labels).toEqual({});
      expect(resource.metadata.workspace).toBe(kind.scope === 'workspace' ? 'default' : undefined);
      expect(checkedResource(resource, at)).toEqual(resource);
      expect(readResources(stringify(resource), 'a.yaml').map((one) => one.resource)).toEqual([resource]);
      expect(readResources(JSON.stringify(resource, null, '\t'), 'a.json').map((one) => one.resource)).toEqual([
        resource,
      ]);
    });

    it('accepts its own output, with status, as input', () => {
      const kept = { uid: 'u', generation: 3, resource_version: 9, created_at: 'then', updated_at: 'now' };
      expect(checkedResource(written(kept), at).metadata).toMatchObject(kept);
      const status = v.parse(kind.statusSchema, { phase: kind.phases[0] });
      expect(status).toMatchObject({ phase: kind.phases[0], message: '', observed_generation: 0, conditions: [] });
      expect(v.is(kind.statusSchema, { phase: 'Sideways' })).toBe(false);
    });

    it('refuses keys it does not know, with the path and what was meant', () => {
      expect(problems({ ...written(), spce: {} })).toMatchObject([
        { code: 'RESOURCE_UNKNOWN_KEY', place: 'here (spce)', hint: expect.stringContaining("'spec'") },
      ]);
      expect(problems(written({ labls: {} }))).toMatchObject([
        { place: 'here (metadata.labls)', hint: expect.stringContaining("did you mean 'labels'?") },
      ]);
      const value = written();
      (value.spec as Record<string, unknown>).nonsense_key = 1;
      expect(problems(value)).toMatchObject([{ code: 'RESOURCE_UNKNOWN_KEY', place: 'here (spec.nonsense_key)' }]);
    });

    it.each(['', 'Upper', '-a', 'a-', 'a/b', '../x', 'a'.repeat(64), 'ä'])('refuses the name %j', (name) => {
      expect(problems(written({ name }))).toMatchObject([{ place: 'here (metadata.name)' }]);
    });

    it('has a JSON Schema that accepts its example too', async () => {
      const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(await jsonSchema(kind.schema));
      expect(validate(written())).toBe(true);
      expect(validate({ ...written(), spec: 1 })).toBe(false);
    });

    it('has a column for everything it shows, also of one that has no status yet', () => {
      const resource = checkedResource(written(), at);
      for (const column of kind.columns) expect(column.value(resource)).toEqual(expect.any(String));
    });
  });
}
