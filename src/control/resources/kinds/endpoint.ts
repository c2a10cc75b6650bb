import { z } from 'zod';
import { ENGINE_TASKS } from '../../../engines/task.js';
import { policyOf } from '../../../gateway/config/config-parts.js';
import { DEFAULT_POLICY, type PolicyConfig } from '../../../gateway/config/gateway-config.js';
import { InputError } from '../../../kernel/errors.js';
import { POLICY_SCHEMA, type PolicyKeys } from '../../../policy/bundle/policy-schema.js';
import { factsOf, type Schema } from '../../../schema/facts.js';
import { DEFAULT_CLUSTER } from '../../runner/registry.js';
import { invalidField } from '../errors.js';
import { column, defineKind, type PlaceOf } from '../kind.js';
import { environmentName, environmentValue, memory, name, secretText, text } from '../parts.js';
import { zodOfKind } from '../zod-of-kind.js';

const section = (key: 'routing' | 'admission' | 'flow_control') => {
  const schema = POLICY_SCHEMA.entries[key] as Schema;
  return zodOfKind(schema)
    .optional()
    .describe(factsOf(schema).help ?? '') as z.ZodOptional<z.ZodType<Record<string, unknown>>>;
};

const seconds = z.number().min(0).max(86_400);

const spec = z.strictObject({
  cluster: name.default(DEFAULT_CLUSTER).describe('Where its replicas run'),
  engine: z.strictObject({
    name: name.describe('An Engine'),
    version: text.min(1).max(63).optional().describe("One of its versions; else the engine's own choice"),
  }),
  model: z.strictObject({
    registry: name
      .optional()
      .describe('A ModelRegistry of the workspace; without it the engine finds the model itself'),
    name: text.min(1).max(200).describe("As the registry calls it: 'qwen/qwen3-14b'"),
    version: text.min(1).max(200).optional().describe('A branch, tag or commit'),
    file: text.min(1).max(500).optional().describe('One file of it, for engines that load a file'),
    serve_as: text.min(1).max(200).optional().describe('What requests call it; else its name'),
    task: z.enum(ENGINE_TASKS).default('text-generation'),
  }),
  resources: z
    .strictObject({
      cpu: z.number().positive().max(4096).optional().describe('Processors of a replica'),
      memory: memory.optional().describe('Memory of a replica'),
      gpus: z.number().min(0).max(1024).default(0).describe('A share below 1, or a whole number'),
      product: text.min(1).max(100).optional().describe('Only GPUs whose name has these words'),
    })
    .default({ gpus: 0 }),
  replicas: z.int().min(0).max(1000).default(1).describe('How many; 0 pauses it'),
  placement: z
    .enum(['pack', 'spread'])
    .default('pack')
    .describe('Fill up GPUs that are shared already, or take the emptiest'),
  variables: z.record(z.string(), z.unknown()).default({}).describe("The engine's parameters, checked by its schema"),
  env: z.record(environmentName, environmentValue).default({}).describe('Environment of the replicas'),
  secret_env: z.record(environmentName, secretText).default({}).describe('The same, kept encrypted and never shown'),
  routing: section('routing'),
  admission: section('admission'),
  flow_control: section('flow_control'),
  deployment: z
    .strictObject({
      startup_timeout_s: seconds.default(1800).describe('A replica that is not ready by then has failed'),
      drain_timeout_s: seconds.default(30).describe('How long requests of a replica that leaves may take'),
      max_surge: z.int().min(0).max(1000).default(1).describe('Replicas beyond the number while it is updated'),
      max_unavailable: z.int().min(0).max(1000).default(0).describe('Replicas short of the number while it is updated'),
    })
    .default({ startup_timeout_s: 1800, drain_timeout_s: 30, max_surge: 1, max_unavailable: 0 }),
});

export type EndpointSpec = z.output<typeof spec>;

const replica = z.strictObject({
  id: z.string(),
  phase: z.string(),
  generation: z.int(),
  url: z.string(),
  restarts: z.int().min(0).default(0),
  message: z.string().default(''),
});

export const endpoint = defineKind({
  kind: 'Endpoint',
  plural: 'endpoints',
  shortNames: ['ep'],
  scope: 'workspace',
  summary: 'A served model: an engine that runs it, so many replicas, and how requests reach them.',
  changedBy: 'operator',
  spec,
  phases: ['Pending', 'Deploying', 'ModelDownloading', 'Running', 'Degraded', 'Failed', 'Paused', 'Deleting'],
  status: {
    ready: z.int().min(0).optional().describe('Replicas that take requests'),
    replicas: z.array(replica).optional(),
    url: z.string().optional().describe('Where it is asked'),
    download: z.strictObject({ bytes: z.number(), total: z.number() }).optional(),
    last_lines: z.array(z.string()).optional().describe('What a replica that failed said last'),
    model: z.record(z.string(), z.unknown()).optional().describe("What the model's own files say of it"),
  },
  columns: [
    column('PHASE', 'status.phase'),
    { title: 'READY', value: ({ spec, status }) => `${status?.ready ?? 0}/${spec.replicas}` },
    column('MODEL', 'spec.model.name'),
    column('ENGINE', 'spec.engine.name'),
    column('VERSION', 'spec.engine.version', 'wide'),
    column('GPUS', 'spec.resources.gpus', 'wide'),
    column('MESSAGE', 'status.message', 'wide'),
  ],
  example: {
    engine: { name: 'emulator' },
    model: { name: 'qwen/qwen3-14b' },
    replicas: 3,
    variables: { speed: 10 },
    routing: { policy: 'round-robin' },
  },
  check(given, placeOf) {
    const problems: InputError[] = [];
    const { gpus } = given.resources;
    if (gpus > 1 && !Number.isInteger(gpus)) {
      const hint = 'give a share below 1, or a whole number';
      problems.push(invalidField(placeOf('spec.resources.gpus'), `${gpus} is no number of GPUs`, hint));
    }
    const { max_surge, max_unavailable } = given.deployment;
    if (max_surge === 0 && max_unavailable === 0) {
      const hint = 'let one of max_surge and max_unavailable be above 0';
      problems.push(invalidField(placeOf('spec.deployment.max_surge'), 'an update could not begin', hint));
    }
    for (const key of Object.keys(given.secret_env)) {
      if (!Object.hasOwn(given.env, key)) continue;
      problems.push(invalidField(placeOf(`spec.secret_env.${key}`), 'is in env as well', 'keep one of the two'));
    }
    try {
      endpointPolicy(given, placeOf);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push(error);
    }
    return problems;
  },
});

/** The policy of an endpoint as the gateway takes it. Throws an `InputError` for one that cannot be. */
export function endpointPolicy(
  { admission, flow_control, routing }: Pick<EndpointSpec, 'routing' | 'admission' | 'flow_control'>,
  placeOf: PlaceOf,
  warn?: (line: string) => void,
): PolicyConfig {
  const keys: Record<string, unknown> = {};
  if (routing !== undefined) keys.routing = routing;
  if (admission !== undefined) keys.admission = admission;
  if (flow_control !== undefined) keys.flow_control = flow_control;
  return policyOf(keys as PolicyKeys, DEFAULT_POLICY, (key) => placeOf(`spec.${key}`), warn);
}
