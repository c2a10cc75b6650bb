import { describe, expect, it } from 'vitest';
import { captured as twinyard } from '../test-io.fixture.js';
import { FILE_FORMATS } from './schema-documents.js';

describe('twinyard schema', () => {
  it.each(FILE_FORMATS.map(({ name }) => name))('prints the JSON Schema of %s', async (name) => {
    const { code, stderr, stdout } = await twinyard(`schema ${name}`);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
  });

  it('has one schema for all kinds of resources', async () => {
    const { stdout } = await twinyard('schema resources');
    const kinds = JSON.parse(stdout).oneOf.map((one: { title: string }) => one.title);
    expect(kinds).toContain('Endpoint');
    expect(kinds).toContain('ApiKey');
  });

  it('describes flags of run and replay as keys of a variant, and as the base of an experiment', async () => {
    const { properties } = JSON.parse((await twinyard('schema variant')).stdout);
    expect(properties.rate).toMatchObject({ type: 'number', exclusiveMinimum: 0 });
    expect(properties['routing-policy'].enum).toContain('weighted');
    expect(properties['flow-control']).toMatchObject({ type: 'boolean' });
    expect(properties['trace-data']).toMatchObject({ type: 'string' });
    expect(properties).not.toHaveProperty('seed');
    const experiment = JSON.parse((await twinyard('schema experiment')).stdout);
    const [sweep, tune, plan] = experiment.oneOf;
    expect(sweep.properties.base.properties.rate).toEqual(properties.rate);
    expect(sweep.required).toEqual(['kind', 'axes']);
    expect(tune.properties.kind).toMatchObject({ const: 'Tune' });
    expect(plan.properties.kind).toMatchObject({ const: 'Plan' });
    expect(plan.properties).toHaveProperty('slo-ttft');
    expect(tune.properties.budget).toMatchObject({ type: 'integer', minimum: 80 });
  });

  it('refuses other formats', async () => {
    const { code, stderr } = await twinyard('schema confg');
    expect([code, stderr]).toEqual([2, expect.stringContaining("did you mean 'config'?")]);
  });
});
