import * as v from 'valibot';
import { MEASURED_ENGINES } from '../../../engines/registry.js';
import { COMMAND_PLACEHOLDERS, placeholdersIn } from '../../../engines/start-command.js';
import { ENGINE_TASKS } from '../../../engines/task.js';
import type { InputError } from '../../../kernel/errors.js';
import { choice, field, listOf, map, pattern, required, section, text, type Value } from '../../../schema/fields.js';
import { invalidField } from '../errors.js';
import { column, defineKind, type PlaceOf } from '../kind.js';
import { parameterSchemaProblem } from '../parameter-schema.js';
import { anyMap, description, environment, jsonPatches, name } from '../parts.js';
import { patchProblems, podProblems } from '../pod-problems.js';

const argument = text();
const path = pattern(/^\/[\w./-]*$/, "a path such as '/health'", 200);
const environmentPattern = pattern(/^[A-Za-z_][A-Za-z0-9_]{0,199}\*?$/, 'a name, or its beginning and *');
const MOST_ARGUMENTS = 1000;

const taskArguments = section(
  'Arguments by task',
  Object.fromEntries(
    ENGINE_TASKS.map((task) => [task, field(listOf(argument, 0, 20), { help: `arguments for ${task}` })]),
  ),
);

const version = section('Engine version', {
  tasks: required(listOf(choice(ENGINE_TASKS), 1, ENGINE_TASKS.length), { help: 'tasks its models can do' }),
  parameters: field(anyMap, {
    default: { type: 'object', additionalProperties: true },
    defaultText: 'anything',
    help: 'JSON Schema of the variables of endpoints; those marked x-needs-admin or x-host-path are for admins',
  }),
  command: required(listOf(v.union([argument, listOf(argument, 1, MOST_ARGUMENTS)]), 1, MOST_ARGUMENTS), {
    help: 'start command; a nested list is left out when one of its placeholders has no value',
  }),
  task_arguments: field(taskArguments, { default: {}, help: 'arguments that {task...} stands for, by task' }),
  false_flags: field(choice(['omit', 'no-prefix', 'value']), {
    default: 'omit',
    help: 'how a variable that is false is passed: not at all, with the prefix no-, or as --name=false',
  }),
  flag_values: field(choice(['equals', 'separate']), {
    default: 'equals',
    help: 'how a variable with a value is passed: --name=value or --name value',
  }),
  env: field(environment(text(4096, 0)), { default: {}, help: 'environment variables of the process' }),
  allowed_env: field(listOf(environmentPattern, 0, 200), {
    default: [],
    help: 'environment variables that operators may set: names, or beginnings such as HF_HUB_*; others need an admin',
  }),
  metrics: required(choice(MEASURED_ENGINES.map((one) => one.name)), { help: 'engine whose metric names it uses' }),
  health_path: field(path, { default: '/health', help: 'path of the readiness check' }),
  load_path: field(path, { default: '/metrics', help: 'path of the metrics' }),
  images: field(map('accelerators', text(), name), { default: {}, help: 'container image by accelerator' }),
  pod: field(anyMap, {
    default: {},
    help: 'pod spec of its replicas in Kubernetes, merged into the default one: see kubernetes.md',
  }),
  json_patches: field(jsonPatches, {
    default: [],
    help: 'RFC 6902 operations on the Deployment of a replica in Kubernetes',
  }),
});

const versionName = pattern(/^[\w][\w.+-]{0,62}$/, "a version such as 'v0.10.2'");

const spec = section('Engine spec', {
  description,
  default_version: field(text(63), {
    defaultText: 'the last one listed',
    help: 'version of endpoints that do not name one',
  }),
  versions: required(map('versions', version, versionName), { help: 'versions by name' }),
});

export type EngineSpec = Value<typeof spec>;
export type EngineVersion = Value<typeof version>;

export const engine = defineKind({
  kind: 'Engine',
  plural: 'engines',
  shortNames: ['eng'],
  scope: 'global',
  summary: 'Serving software: its versions, their parameters and start commands.',
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
      problems.push(invalidField(placeOf('spec.versions'), 'is empty', 'give at least one version'));
    const wanted = given.default_version;
    if (wanted !== undefined && !Object.hasOwn(given.versions, wanted)) {
      const known = Object.keys(given.versions).join(', ');
      problems.push(
        invalidField(placeOf('spec.default_version'), `there is no version '${wanted}'`, `give one of ${known}`),
      );
    }
    const values = versions.reduce((sum, [, { parameters }]) => sum + valuesIn(parameters), 0);
    if (values > MOST_SCHEMA_VALUES) {
      const problem = `the parameters of all versions hold more than ${MOST_SCHEMA_VALUES} values`;
      return [...problems, invalidField(placeOf('spec.versions'), problem, 'split it into several engines')];
    }
    for (const [key, one] of versions) problems.push(...versionProblems(one, `spec.versions.${key}`, placeOf));
    return problems;
  },
});

/** Compiling a schema takes about a tenth of a millisecond for each value, and nothing else runs meanwhile. */
const MOST_SCHEMA_VALUES = 1000;

/** Values of nested maps and lists. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const inner of Object.values(value)) count += valuesIn(inner);
  return count;
}

function versionProblems(
  { command, json_patches, parameters, pod }: EngineVersion,
  path: string,
  placeOf: PlaceOf,
): InputError[] {
  const problems = [
    ...podProblems(pod, `${path}.pod`, placeOf),
    ...patchProblems(json_patches, `${path}.json_patches`, placeOf),
  ];
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
