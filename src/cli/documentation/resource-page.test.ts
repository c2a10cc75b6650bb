import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { KINDS, kindNamed } from '../../control/resources/kinds.js';
import { readResources } from '../../control/resources/read-resources.js';
import { specFields } from './resource-page.js';

describe('docs/resources.md', () => {
  it('shows resources that are accepted', () => {
    const text = readFileSync(new URL('../../../docs/resources.md', import.meta.url), 'utf8');
    const blocks = [...text.matchAll(/```yml\n(.*?)```/gs)].map((match) => match[1]!);
    expect(blocks.length).toBeGreaterThan(2);
    for (const block of blocks) expect(() => readResources(block, 'docs/resources.md')).not.toThrow();
  });
});

describe('specFields', () => {
  it('has a row for each field, with its values and its default', () => {
    const fields = new Map(specFields(kindNamed('ep', 'here').specSchema).map((row) => [row.name, row]));
    expect(fields.get('replicas')).toMatchObject({ values: 'a whole number from 0 to 1000', default: '1' });
    expect(fields.get('engine.name')).toMatchObject({ default: 'required' });
    expect(fields.get('engine')).toMatchObject({ values: 'a section', default: 'required' });
    expect(fields.get('placement')).toMatchObject({ values: 'one of pack, spread', default: 'pack' });
    expect(fields.get('routing.scorers[].weight')).toMatchObject({ default: 'required' });
    expect(fields.get('secret_env')).toMatchObject({ default: '{}' });
    const paths = KINDS.flatMap((kind) => specFields(kind.specSchema).map(({ name }) => `${kind.kind} ${name}`));
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toContain('Engine versions.*.tasks');
    expect(paths).toContain('ExternalEndpoint upstreams[].credential');
  });
});
