import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CONTROL_ROUTES } from '../api/routes.js';
import { fieldsOf } from './field-table.js';
import { KINDS, kindNamed } from './kinds.js';
import { readResources } from './read-resources.js';
import { resourceReference } from './resource-page.js';

const PAGE = new URL('../../../docs/resources.md', import.meta.url);
const HEADING = '## Every field\n\n';

describe('docs/resources.md', () => {
  it('has every field of every kind as the schemas have them', () => {
    const text = readFileSync(PAGE, 'utf8');
    const [written, reference] = text.split(HEADING);
    // As for the other pages: the real thing goes in, to be read before it is committed.
    if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, `${written}${HEADING}${resourceReference()}`);
    else expect(reference).toBe(resourceReference());
  });

  it('shows resources that are accepted', () => {
    const blocks = [...readFileSync(PAGE, 'utf8').matchAll(/```yml\n(.*?)```/gs)].map((match) => match[1]!);
    expect(blocks.length).toBeGreaterThan(2);
    for (const block of blocks) expect(() => readResources(block, 'docs/resources.md')).not.toThrow();
  });

  it('names the paths that are not of one kind', () => {
    const text = readFileSync(PAGE, 'utf8');
    const general = CONTROL_ROUTES.filter(({ kind, path }) => kind === undefined && !path.includes('{'));
    for (const { path } of general) expect(text).toContain(`\`${path}\``);
  });
});

describe('fieldsOf', () => {
  it('has a line for each field, with what it takes and what holds without it', () => {
    const fields = new Map(fieldsOf(kindNamed('ep', 'here')).map((field) => [field.path, field]));
    expect(fields.get('replicas')).toMatchObject({ takes: 'whole number from 0 to 1000', without: '1' });
    expect(fields.get('engine.name')).toMatchObject({ takes: 'text', without: 'needed' });
    expect(fields.get('placement')).toMatchObject({ takes: 'pack, spread', without: '"pack"' });
    expect(fields.get('routing.scorers[].weight')).toMatchObject({ without: 'needed' });
    expect(fields.get('secret_env')).toMatchObject({ takes: 'map', without: '{}' });
    const paths = KINDS.flatMap((kind) => fieldsOf(kind).map(({ path }) => `${kind.kind} ${path}`));
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toContain('Engine versions.*.tasks');
    expect(paths).toContain('ExternalEndpoint upstreams[].credential');
  });
});
