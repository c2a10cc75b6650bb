import * as v from 'valibot';
import { isLoaderVariable } from '../../../engines/loader-variables.js';
import { ENGINE_TASKS } from '../../../engines/task.js';
import { policyOf } from '../../../gateway/config/config-parts.js';
import { DEFAULT_POLICY, type PolicyConfig } from '../../../gateway/config/gateway-config.js';
import { InputError } from '../../../kernel/errors.js';
import { POLICY_SCHEMA, type PolicyKeys } from '../../../policy/bundle/policy-schema.js';
import {
  above,
  choice,
  field,
  flag,
  list,
  number,
  required,
  section,
  text,
  type Value,
  whole,
} from '../../../schema/fields.js';
import { DEFAULT_CLUSTER } from '../../runner/registry.js';
import { invalidField } from '../errors.js';
import { column, defineKind, type PlaceOf } from '../kind.js';
import { anyMap, environment, environmentValue, jsonPatches, memory, name, secretText, written } from '../parts.js';
import { patchProblems } from '../pod-problems.js';

const seconds = number(0, 86_400);
const { admission, flow_control, routing, shadow } = POLICY_SCHEMA.entries;

const engine = section('Engine of an endpoint', {
  name: required(name, { help: 'an Engine' }),
  version: field(text(63), { defaultText: "the engine's default", help: 'one of its versions' }),
});

const model = section('Model', {
  registry: field(name, {
    defaultText: 'none: the engine finds the model',
    help: 'a ModelRegistry of the workspace',
  }),
  name: required(text(200), { help: "name in the registry, such as 'qwen/qwen3-14b'" }),
  version: field(text(200), { help: 'branch, tag or commit' }),
  file: field(text(500), { help: 'one file of the model, for engines that load a file' }),
  serve_as: field(text(200), { defaultText: 'its name', help: 'name of the model in requests' }),
  task: field(choice(ENGINE_TASKS), { default: 'text-generation', help: 'task' }),
});

const resources = section('Resources of a replica', {
  cpu: field(above(0, 4096), { help: 'CPUs' }),
  memory: field(memory, { help: 'memory' }),
  gpus: field(number(0, 1024), { default: 0, help: 'a share below 1, or a whole number' }),
  product: field(text(100), { help: 'words that the product name of the GPU must have' }),
});

const deployment = section('Deployment', {
  startup_timeout_s: field(seconds, { default: 1800, help: 'a replica that is not ready by then has failed' }),
  drain_timeout_s: field(seconds, { default: 30, help: 'time for requests to finish when a replica stops' }),
  max_surge: field(whole(0, 1000), { default: 1, help: 'replicas above the number during an update' }),
  max_unavailable: field(whole(0, 1000), { default: 0, help: 'replicas below the number during an update' }),
});

const spec = section('Endpoint spec', {
  cluster: field(name, { default: DEFAULT_CLUSTER, help: 'cluster that runs the replicas' }),
  engine: required(engine, { help: 'engine that serves the model' }),
  model: required(model, { help: 'model to serve' }),
  resources: field(resources, { default: {}, help: 'resources of each replica' }),
  replicas: field(whole(0, 1000), { default: 1, help: 'number of replicas; 0 pauses the endpoint' }),
  placement: field(choice(['pack', 'spread']), {
    default: 'pack',
    help: 'pack: share GPUs that are in use already; spread: use the emptiest GPU',
  }),
  variables: field(anyMap, { default: {}, help: 'parameters of the engine, checked by its schema' }),
  env: field(environment(environmentValue), { default: {}, help: 'environment variables of the replicas' }),
  secret_env: field(environment(secretText), { default: {}, help: 'environment variables that are secret' }),
  json_patches: field(jsonPatches, {
    default: [],
    help: 'RFC 6902 operations on the Deployment of a replica, in a Kubernetes cluster that allows them',
  }),
  routing,
  admission,
  flow_control,
  shadow,
  deployment: field(deployment, { default: {}, help: 'how replicas start, stop and are updated' }),
});

export type EndpointSpec = Value<typeof spec>;

const replica = section('Replica', {
  id: required(written, { help: 'id' }),
  phase: required(written, { help: 'observed state' }),
  generation: required(whole(0), { help: 'generation of the spec it was started for' }),
  url: required(written, { help: 'URL' }),
  restarts: field(whole(0), { default: 0, help: 'restarts' }),
  gpu: field(text(63), { help: 'GPU that it runs on, where it is known' }),
  leaving: field(flag, { help: 'an operator has drained it: it leaves as soon as another one serves in its place' }),
  message: field(written, { default: '', help: 'reason in words' }),
});

const download = section('Download', {
  bytes: required(number(), { help: 'bytes received' }),
  total: required(number(), { help: 'bytes in total' }),
});

const orNone = <Item extends v.GenericSchema>(schema: Item) => v.nullable(schema);

/** The latest advice about the policy of an endpoint. A gateway adds it to what it returns; it is not stored. */
export const ENDPOINT_ADVICE = section('Advice about the policy', {
  job: required(written, { help: 'id of the job that found it' }),
  at: required(written, { help: 'time of the advice' }),
  verdict: required(written, { help: 'what to do, what it gains and what it costs' }),
  metric: required(written, { help: 'what should become better' }),
  present: required(written, { help: 'the policy that was in force' }),
  policy: required(orNone(written), { help: 'the policy to switch to; null to keep the present one' }),
  change: required(orNone(number()), {
    help: 'predicted change of the metric as a share, of cached_share in points of 0 to 1',
  }),
  change_low: required(orNone(number()), { help: 'least change, by the 95 % interval' }),
  change_high: required(orNone(number()), { help: 'greatest change, by the 95 % interval' }),
});

export type EndpointAdvice = Value<typeof ENDPOINT_ADVICE>;

const SWITCH_STATES = ['watching', 'kept', 'returned', 'superseded', 'cancelled', 'failed', 'interrupted'] as const;

/** The latest guarded switch of the policy of an endpoint. A gateway adds it to what it returns; it is in no store. */
export const ENDPOINT_SWITCH = section('Guarded switch of the policy', {
  job: required(written, { help: 'id of its job' }),
  at: required(written, { help: 'when it began, or ended' }),
  policy: required(written, { help: 'the new policy' }),
  former: required(written, { help: 'the policy before it' }),
  metric: required(written, { help: 'what is watched' }),
  most: required(number(), { help: 'how much worse it may become, as a share' }),
  state: required(choice(SWITCH_STATES), {
    help: 'watching, kept, returned because it was worse, superseded by another change, cancelled, failed, or interrupted because the gateway stopped',
  }),
  reason: required(written, { help: 'why; empty while it is watched' }),
});

export type EndpointSwitch = Value<typeof ENDPOINT_SWITCH>;

const PROFILE_SCORE = section('Score of a latency profile', {
  ttft: required(number(), { help: 'error of the time to the first token, as a share' }),
  itl: required(number(), { help: 'error of the time between tokens' }),
  e2e: required(number(), { help: 'error of the whole duration' }),
  requests: required(whole(0), { help: 'newer requests that it was scored on' }),
});

/** A latency profile of the engines of an endpoint. A gateway adds it to what it returns; it is in no store. */
const ENDPOINT_PROFILE = section('Latency profile of an engine', {
  engine: required(written, { help: "engine of its replicas, with their GPU where it is configured: 'vllm@H100'" }),
  name: required(orNone(written), { help: 'name of the profile; null while there is none' }),
  used: required(v.boolean(), { help: 'whether latencies are predicted with it' }),
  pinned: required(v.boolean(), { help: 'whether it is kept as it is' }),
  fitted_at: required(orNone(written), { help: 'when it was fitted or given' }),
  score: required(orNone(PROFILE_SCORE), {
    help: 'how far it was off when it was last compared; null where it never was',
  }),
  drift: required(written, { help: 'why predictions have become worse; empty unless they have' }),
  problem: required(written, { help: 'why nothing is predicted; empty when something is' }),
});

export type EndpointProfile = Value<typeof ENDPOINT_PROFILE>;

/** `lmetric`, `keep`; empty where none was asked for. */
function adviceText(advice: EndpointAdvice | undefined): string {
  return advice === undefined ? '' : (advice.policy ?? 'keep');
}

export const endpoint = defineKind({
  kind: 'Endpoint',
  plural: 'endpoints',
  shortNames: ['ep'],
  scope: 'workspace',
  summary: 'A served model: its engine, its replicas, and the policies for its requests.',
  changedBy: 'operator',
  spec,
  phases: ['Pending', 'Deploying', 'ModelDownloading', 'Running', 'Degraded', 'Failed', 'Paused', 'Deleting'],
  status: {
    ready: field(whole(0), { help: 'replicas that take requests' }),
    replicas: field(list(replica), { help: 'replicas' }),
    url: field(written, { help: 'base URL for requests' }),
    download: field(download, { help: 'progress of the download of the model' }),
    last_lines: field(list(written), { help: 'last log lines of a replica that failed' }),
    model: field(anyMap, { help: "facts from the model's own files" }),
    advice: field(ENDPOINT_ADVICE, { help: 'the latest advice about its policy, where a gateway found one' }),
    profiles: field(list(ENDPOINT_PROFILE), { help: 'latency profiles of its engines, where a gateway keeps them' }),
    switch: field(ENDPOINT_SWITCH, { help: 'the latest guarded switch of its policy, where there was one' }),
  },
  columns: [
    column('PHASE', 'status.phase'),
    { title: 'READY', value: ({ spec, status }) => `${status?.ready ?? 0}/${spec.replicas}` },
    column('MODEL', 'spec.model.name'),
    column('ENGINE', 'spec.engine.name'),
    column('VERSION', 'spec.engine.version', 'wide'),
    column('GPUS', 'spec.resources.gpus', 'wide'),
    column('MESSAGE', 'status.message', 'wide'),
    { title: 'ADVICE', wide: true, value: ({ status }) => adviceText(status?.advice as EndpointAdvice | undefined) },
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
      problems.push(invalidField(placeOf('spec.resources.gpus'), `${gpus} is not a number of GPUs`, hint));
    }
    const { max_surge, max_unavailable } = given.deployment;
    if (max_surge === 0 && max_unavailable === 0) {
      const hint = 'set max_surge or max_unavailable above 0';
      problems.push(invalidField(placeOf('spec.deployment.max_surge'), 'updates could not start', hint));
    }
    for (const key of ['env', 'secret_env'] as const) {
      if (Object.keys(given[key]).length <= MOST_VARIABLES) continue;
      return [invalidField(placeOf(`spec.${key}`), `has more than ${MOST_VARIABLES} variables`, 'put them in a file')];
    }
    for (const key of Object.keys(given.secret_env)) {
      if (!Object.hasOwn(given.env, key)) continue;
      problems.push(invalidField(placeOf(`spec.secret_env.${key}`), 'is also in env', 'keep one of the two'));
    }
    problems.push(...patchProblems(given.json_patches, 'spec.json_patches', placeOf));
    problems.push(...loaderProblems(given, placeOf), ...argumentProblems(given, placeOf));
    try {
      endpointPolicy(given, placeOf);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push(error);
    }
    return problems;
  },
});

/** Of `env` and of `secret_env`: each secret is encrypted when it is applied. */
const MOST_VARIABLES = 256;

function loaderProblems({ env, secret_env }: EndpointSpec, placeOf: PlaceOf): InputError[] {
  const places = Object.entries({ env, secret_env }).flatMap(([key, map]) =>
    Object.keys(map)
      .filter(isLoaderVariable)
      .map((name) => `spec.${key}.${name}`),
  );
  const hint = "leave it out; an admin can set it in 'env' of the engine's version";
  return places.map((path) =>
    invalidField(placeOf(path), 'makes programs load code, and no endpoint may set it', hint),
  );
}

/** Values that stand alone on the command line: one that begins with '-' would be read as a flag. */
function argumentProblems({ model, variables }: EndpointSpec, placeOf: PlaceOf): InputError[] {
  const { file, name, serve_as, version } = model;
  const alone: [path: string, value: unknown][] = Object.entries({ name, file, serve_as, version }).map(
    ([key, value]) => [`spec.model.${key}`, value],
  );
  for (const [key, value] of Object.entries(variables)) {
    if (!Array.isArray(value)) continue;
    for (const [i, one] of value.entries()) alone.push([`spec.variables.${key}[${i}]`, one]);
  }
  return alone
    .filter(([, value]) => typeof value === 'string' && value.startsWith('-'))
    .map(([path]) => invalidField(placeOf(path), "begins with '-'", 'the engine would read it as a flag: rename it'));
}

/** By their keys: many endpoints share a policy, and each is checked and reconciled again and again. */
const policies = new Map<string, PolicyConfig>();
const MOST_POLICIES = 256;

/** The policy of an endpoint as the gateway takes it. Throws an `InputError` for one that is not valid. */
export function endpointPolicy(
  { admission, flow_control, routing, shadow }: Pick<PolicyKeys, 'routing' | 'admission' | 'flow_control' | 'shadow'>,
  placeOf: PlaceOf,
  warn?: (line: string) => void,
): PolicyConfig {
  const keys = { routing, admission, flow_control, shadow };
  const policy = () => policyOf(keys, DEFAULT_POLICY, (key) => placeOf(`spec.${key}`), warn);
  if (warn !== undefined) return policy();
  const text = JSON.stringify(keys);
  const known = policies.get(text);
  if (known !== undefined) return known;
  const made = policy();
  if (policies.size >= MOST_POLICIES) policies.clear();
  policies.set(text, made);
  return made;
}
