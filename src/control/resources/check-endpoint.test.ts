import { describe, expect, it } from 'vitest';
import { builtInEngines } from './built-in-engines.js';
import { endpointProblems, engineVersion } from './check-endpoint.js';
import type { EndpointSpec } from './kinds/endpoint.js';
import type { EngineSpec } from './kinds/engine.js';
import { parameterSchemaProblem, variableProblems } from './parameter-schema.js';

const at = (path: string) => path;
const engines = new Map(builtInEngines().map(({ metadata, spec }) => [metadata.name, spec as unknown as EngineSpec]));

describe('variables', () => {
  const schema = {
    type: 'object',
    additionalProperties: false,
    required: ['a'],
    properties: {
      a: { type: 'integer' },
      mode: { enum: ['x', 'y'] },
      deep: { type: 'array', items: { type: 'object', properties: { k: { type: 'number' } } } },
    },
  };

  it('are reported with every error and its path', () => {
    const found = variableProblems(schema, { mod: 1, mode: 'zzz', deep: [{}, { k: 'no' }] }, at).map(
      ({ message }) => message,
    );
    expect(found).toEqual([
      'spec.variables.a: is missing; the engine requires it',
      "spec.variables.mod: the engine has no parameter 'mod'; did you mean 'mode'?",
      "spec.variables.mode: 'zzz' is not accepted; known: x, y",
      "spec.variables.deep[1].k: 'no' is not accepted; give a number",
    ]);
    expect(variableProblems(schema, { a: 1, far_off_key: 1 }, at)[0]!.hint).toBe('known: a, mode, deep');
    expect(variableProblems({ type: 'object', additionalProperties: false }, { a: 1 }, at)[0]!.hint).toBe(
      'leave it out',
    );
    expect(variableProblems(schema, { a: 1 }, at)).toEqual([]);
  });

  it('are reported with at most 100 errors', () => {
    const wrong = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, 1]));
    expect(variableProblems(schema, wrong, at)).toHaveLength(100);
  });

  it.each([
    [{ type: ['integer', 'boolean'] }, 'x', "'x' is not accepted; give a whole number or true or false"],
    [{ type: 'number' }, [], 'an empty list is not accepted; give a number'],
    [{ type: 'array' }, { k: 1 }, 'a map is not accepted; give a list'],
    [{ type: 'string' }, [1], 'a list is not accepted; give text'],
    [{ enum: [1, 8] }, 2, '2 is not accepted; give one of 1, 8'],
    [{ enum: ['fcfs', 'priority'] }, 'fcf', "'fcf' is not accepted; did you mean 'fcfs'? known: fcfs, priority"],
    [{ const: 4 }, 5, '5 is not accepted; give 4'],
    [{ minimum: 1 }, 0, '0 is not accepted; give at least 1'],
    [{ exclusiveMinimum: 0, maximum: 1 }, 0, '0 is not accepted; give more than 0'],
    [{ exclusiveMaximum: 1 }, 1, '1 is not accepted; give less than 1'],
    [{ maximum: 1 }, 2, '2 is not accepted; give at most 1'],
    [{ multipleOf: 16 }, 17, '17 is not accepted; give a multiple of 16'],
    [{ minLength: 1 }, '', "'' is not accepted; give at least 1 characters"],
    [{ maxLength: 2 }, 'abc', "'abc' is not accepted; give at most 2 characters"],
    [{ minItems: 1 }, [], 'an empty list is not accepted; give at least 1 entries'],
    [{ maxItems: 1 }, [1, 2], 'a list is not accepted; give at most 1 entries'],
    [{ pattern: '^a' }, 'b', "'b' is not accepted; give text that matches ^a"],
    [{ not: { type: 'null' } }, null, 'null is not accepted; give what not requires: {"type":"null"}'],
  ])('by %j, %j is refused with what is accepted', (rule, given, message) => {
    const found = variableProblems({ properties: { v: rule } }, { v: given }, at);
    expect(found.map((one) => one.message)).toEqual([`spec.variables.v: ${message}`]);
  });

  it('are checked by the draft that the schema names', () => {
    const late = { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: 'string' }] };
    expect(variableProblems(late, [1], at)).toHaveLength(1);
    expect(parameterSchemaProblem(late)).toBeNull();
    expect(parameterSchemaProblem({ type: 'nothing' })).toContain('schema is invalid');
  });
});

describe('an endpoint and its engine', () => {
  const spec = (more: object): EndpointSpec =>
    ({
      engine: { name: 'vllm' },
      model: { name: 'm', task: 'text-generation' },
      variables: {},
      ...more,
    }) as EndpointSpec;
  const messages = (given: EndpointSpec, engine: EngineSpec | null) =>
    endpointProblems(given, engine, ['vllm', 'sglang'], at).map(({ message }) => message);

  it('must match: name, version, task and variables', () => {
    const { vllm, sglang } = Object.fromEntries(engines) as Record<string, EngineSpec>;
    expect(messages(spec({}), vllm!)).toEqual([]);
    expect(messages(spec({ engine: { name: 'vlm' } }), null)[0]).toContain("did you mean 'vllm'?");
    expect(messages(spec({ engine: { name: 'vllm', version: 'v0.1' } }), vllm!)[0]).toContain("no version 'v0.1'");
    const model = { name: 'm', task: 'text-rerank' };
    expect(messages(spec({ model, variables: { tp_siz: 2 } }), sglang!)).toEqual([
      "spec.variables.tp_siz: the engine has no parameter 'tp_siz'; did you mean 'tp_size'?",
      "spec.model.task: engine 'vllm' v0.5.23 does not support text-rerank; give one of text-generation, text-embedding",
    ]);
  });

  it('names the versions that have a variable which this one lacks', () => {
    const { vllm } = Object.fromEntries(engines) as Record<string, EngineSpec>;
    expect(messages(spec({ variables: { swap_space: 4 } }), vllm!)).toEqual([
      "spec.variables.swap_space: the engine has no parameter 'swap_space'; leave it out, or name a version that has it: v0.10",
    ]);
    expect(messages(spec({ engine: { name: 'vllm', version: 'v0.10' }, variables: { swap_space: 4 } }), vllm!)).toEqual(
      [],
    );
  });

  it('uses the last version when there is no default', () => {
    const { versions } = engines.get('vllm')!;
    const engine = { description: '', versions: { a: versions['v0.10']!, b: versions['v0.10']! } };
    expect(engineVersion(engine, undefined)![0]).toBe('b');
  });
});
