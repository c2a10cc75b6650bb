import { z } from 'zod';
import { MEASURED_ENGINES } from '../../../engines/registry.js';
import { COMMAND_PLACEHOLDERS, placeholdersIn } from '../../../engines/start-command.js';
import { ENGINE_TASKS } from '../../../engines/task.js';
import type { InputError } from '../../../kernel/errors.js';
import { invalidField } from '../errors.js';
import { column, defineKind, type PlaceOf } from '../kind.js';
import { parameterSchemaProblem } from '../parameter-schema.js';
import { environmentName, name, text } from '../parts.js';

const argument = text.min(1);
const path = z
  .string()
  .max(200)
  .regex(/^\/[\w./-]*$/, "a path as '/health'");

const version = z.strictObject({
  tasks: z.array(z.enum(ENGINE_TASKS)).min(1).describe('What its models may do'),
  parameters: z
    .record(z.string(), z.unknown())
    .default({ type: 'object', additionalProperties: true })
    .describe("JSON Schema of an endpoint's variables"),
  command: z
    .array(z.union([argument, z.array(argument).min(1)]))
    .min(1)
    .describe('How a process is started; a list within it is left out when one of its placeholders has no value'),
  task_arguments: z
    .partialRecord(z.enum(ENGINE_TASKS), z.array(argument).max(20))
    .default({})
    .describe('What {task...} stands for, by task'),
  false_flags: z.enum(['omit', 'no-prefix']).default('omit').describe('What a variable that is false becomes'),
  flag_values: z
    .enum(['equals', 'separate'])
    .default('equals')
    .describe('How a variable with a value is written: --name=value, or --name value'),
  env: z.record(environmentName, text).default({}).describe('Added to the environment of a process'),
  metrics: z
    .enum(MEASURED_ENGINES.map((one) => one.name) as [string, ...string[]])
    .describe('How its metrics are called'),
  health_path: path.default('/health').describe('Where it says that it is ready'),
  load_path: path.default('/metrics').describe('Where it tells its load'),
  images: z.record(name, text).default({}).describe('Container image by accelerator'),
  manifest_template: z.string().max(65_536).optional().describe('For runners that take manifests'),
});

const spec = z.strictObject({
  description: text.default(''),
  default_version: text
    .min(1)
    .max(63)
    .optional()
    .describe('Taken by endpoints that name none; else the last one listed'),
  versions: z
    .record(z.string().regex(/^[\w][\w.+-]{0,62}$/, "a version as 'v0.10.2'"), version)
    .describe('By their names'),
});

export type EngineSpec = z.output<typeof spec>;
export type EngineVersion = z.output<typeof version>;

export const engine = defineKind({
  kind: 'Engine',
  plural: 'engines',
  shortNames: ['eng'],
  scope: 'global',
  summary: 'A program that serves models: its versions, their parameters, and how each is started.',
  changedBy: 'admin',
  spec,
  phases: ['Ready', 'Deleting'],
  status: {},
  columns: [
    { title: 'VERSIONS', value: ({ spec }) => Object.keys((spec as unknown as EngineSpec).versions).join(',') },
    column('DESCRIPTION', 'spec.description', 'wide'),
  ],
  example: {
    versions: {
      v1: {
        tasks: ['text-generation'],
        parameters: { type: 'object', properties: { max_model_len: { type: 'integer' } }, additionalProperties: false },
        command: ['my-server', '{model}', '--port', '{port}', ['--tp', '{tensor_parallel}'], '{variables...}'],
        metrics: 'vllm',
      },
    },
  },
  check(given, placeOf) {
    const problems: InputError[] = [];
    const versions = Object.entries(given.versions);
    if (versions.length === 0)
      problems.push(invalidField(placeOf('spec.versions'), 'there is none', 'give at least one'));
    const wanted = given.default_version;
    if (wanted !== undefined && !Object.hasOwn(given.versions, wanted)) {
      const known = Object.keys(given.versions).join(', ');
      problems.push(
        invalidField(placeOf('spec.default_version'), `there is no version '${wanted}'`, `give one of ${known}`),
      );
    }
    for (const [key, one] of versions) problems.push(...versionProblems(one, `spec.versions.${key}`, placeOf));
    return problems;
  },
});

function versionProblems({ command, parameters }: EngineVersion, path: string, placeOf: PlaceOf): InputError[] {
  const problems: InputError[] = [];
  const problem = parameterSchemaProblem(parameters);
  if (problem !== null) problems.push(invalidField(placeOf(`${path}.parameters`), problem, 'give a JSON Schema'));
  command.forEach((part, i) => {
    for (const argument of typeof part === 'string' ? [part] : part) {
      for (const given of placeholdersIn(argument)) {
        if ((COMMAND_PLACEHOLDERS as readonly string[]).includes(given)) continue;
        const hint = `give one of ${COMMAND_PLACEHOLDERS.map((one) => `{${one}}`).join(' ')}`;
        problems.push(invalidField(placeOf(`${path}.command[${i}]`), `unknown placeholder {${given}}`, hint));
      }
    }
  });
  return problems;
}
