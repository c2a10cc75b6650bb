import { createHash } from 'node:crypto';
import { type HubModel, startCommand } from '../../../engines/start-command.js';
import type { PatchOperation } from '../../../kernel/json/json-patch.js';
import { canonicalJson } from '../../../kernel/text/canonical-json.js';
import type { ResourceRecord } from '../../../store/resources/resource-record.js';
import { impliedTensorParallel } from '../../resources/fit/gpu-shares.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import type { EngineVersion } from '../../resources/kinds/engine.js';
import { memoryBytes } from '../../resources/parts.js';
import { isHostPath } from '../../resources/privileges/host-path.js';
import { DEFAULT_WORKSPACE } from '../../resources/resource.js';
import type { ReplicaSpec } from '../../runner/contract.js';
import { RUNNER_PLACEHOLDERS } from '../../runner/fill-placeholders.js';
import { gpuDemand } from '../../runner/gpu-demand.js';
import type { ManifestPatch, PodSource } from '../../runner/pod-source.js';
import type { FetchedModel } from '../models/model-state.js';

export interface TemplateParts {
  /** As stored, with encrypted secrets. */
  readonly record: ResourceRecord;
  /** With decrypted secrets. */
  readonly spec: EndpointSpec;
  readonly engine: EngineVersion;
  /** Null: the engine downloads the model itself. */
  readonly model: FetchedModel | null;
  /** How an engine elsewhere downloads its model; null where it needs nothing. */
  readonly download?: ModelDownload | null;
  /** Replicas are pods. */
  readonly isPod?: boolean | undefined;
  /** The command of this program. */
  readonly self: readonly string[];
}

/** What the environment of an engine needs to download from a registry. */
export interface ModelDownload {
  readonly env: Readonly<Record<string, string>>;
  readonly secretEnv: Readonly<Record<string, string>>;
}

/** The model name of an endpoint in requests. */
export const servedModel = ({ model }: Pick<EndpointSpec, 'model'>) => model.serve_as ?? model.name;

/**
 * A hash of everything that distinguishes replicas: a replica with another hash is outdated. It covers the resulting command, not
 * the template, so that an engine update that changes nothing replaces no replica. The number of replicas, routing and rollout
 * options are not part of it, nor are the paths of this program and of the model. Secrets are hashed in their encrypted form, which
 * changes when they do.
 */
export function specHashOf({ download, engine, isPod, model, record }: Omit<TemplateParts, 'spec' | 'self'>): string {
  const spec = record.spec as EndpointSpec;
  const { cluster, env, model: named, resources, secret_env } = spec;
  const parts = {
    cluster,
    command: commandOf(engine, spec, named.name, model === null, ['{self...}']),
    model: { file: named.file, revision: model?.revision },
    env: { ...engine.env, ...download?.env, ...env },
    ...{ secret_env, resources, health: engine.health_path },
    ...(isPod ? { images: engine.images, pod: podSource(engine, spec) } : {}),
  };
  return createHash('sha256').update(canonicalJson(parts)).digest('hex').slice(0, 16);
}

/** What a runner needs to start a replica. */
export function replicaSpec(id: string, specHash: string, parts: TemplateParts): ReplicaSpec {
  const { download, engine, isPod, model, record, self, spec } = parts;
  const { cpu, gpus, memory, product } = spec.resources;
  const [command, ...args] = commandOf(engine, spec, model?.path ?? spec.model.name, model === null, self);
  return {
    id,
    workspace: record.workspace,
    endpoint: record.name,
    engine: { name: spec.engine.name, version: spec.engine.version ?? null },
    generation: record.generation,
    specHash,
    command: command!,
    args,
    images: engine.images,
    ...(isPod ? { pod: podSource(engine, spec) } : {}),
    env: { ...engine.env, ...download?.env, ...spec.env },
    secretEnv: { ...download?.secretEnv, ...spec.secret_env },
    resources: {
      cpu: cpu ?? null,
      memoryBytes: memory === undefined ? null : memoryBytes(memory),
      gpus,
      product: product ?? null,
    },
    placement: spec.placement,
    healthPath: engine.health_path,
    startupTimeoutMs: spec.deployment.startup_timeout_s * 1000,
    drainMs: spec.deployment.drain_timeout_s * 1000,
  };
}

function commandOf(
  engine: EngineVersion,
  spec: EndpointSpec,
  model: string,
  isFoundByEngine: boolean,
  self: readonly string[],
): string[] {
  const { devices, memoryFraction } = gpuDemand(spec.resources.gpus);
  const tensorParallel = impliedTensorParallel(devices, spec.variables);
  return startCommand(engine, {
    model,
    modelName: spec.model.name,
    ...(isFoundByEngine && !isHostPath(spec.model.name) ? { hub: hubModel(spec.model) } : {}),
    servedModel: servedModel(spec),
    task: spec.model.task,
    host: RUNNER_PLACEHOLDERS.host,
    port: RUNNER_PLACEHOLDERS.port,
    ...(tensorParallel > 1 ? { tensorParallel } : {}),
    ...(memoryFraction > 0 && memoryFraction < 1 ? { gpuMemoryFraction: memoryFraction } : {}),
    variables: spec.variables,
    self,
  });
}

/** Patches of the engine version come first: an endpoint patches what the admin has made. */
function podSource(engine: EngineVersion, spec: EndpointSpec): PodSource {
  const { name, version } = spec.engine;
  const patches: ManifestPatch[] = [
    {
      by: 'engine',
      owner: `engine '${name}'${version ? ` ${version}` : ''}`,
      operations: patchOf(engine.json_patches),
    },
    { by: 'endpoint', owner: 'endpoint', operations: patchOf(spec.json_patches) },
  ];
  const hub = isHostPath(spec.model.name) ? undefined : hubModel(spec.model);
  return {
    template: engine.pod,
    values: {
      model: spec.model.name,
      model_name: spec.model.name,
      hub_model: hub?.name,
      hub_revision: hub?.revision,
      hub_file: hub?.file,
      served_model: servedModel(spec),
    },
    patches: patches.filter(({ operations }) => operations.length > 0),
  };
}

/** Checked when they were applied; a resource of an earlier release has none. */
const patchOf = (operations: EngineVersion['json_patches'] | undefined) =>
  (operations ?? []) as readonly PatchOperation[];

const hubModel = ({ file, name, version }: EndpointSpec['model']): HubModel => ({
  name,
  ...(version === undefined ? {} : { revision: version }),
  ...(file === undefined ? {} : { file }),
});

/** Unique; begins with the name of the endpoint. */
export function replicaId({ name, workspace }: Pick<ResourceRecord, 'name' | 'workspace'>, random: string): string {
  const called = workspace === DEFAULT_WORKSPACE ? name : `${workspace}-${name}`;
  return `${called.slice(0, 50)}-${random}`;
}
