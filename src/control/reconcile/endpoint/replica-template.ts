import { createHash } from 'node:crypto';
import { startCommand } from '../../../engines/start-command.js';
import { canonicalJson } from '../../../kernel/canonical-json.js';
import type { ResourceRecord } from '../../../store/resources/resource-record.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import type { EngineVersion } from '../../resources/kinds/engine.js';
import { memoryBytes } from '../../resources/parts.js';
import { DEFAULT_WORKSPACE } from '../../resources/resource.js';
import { PLACEHOLDERS, type ReplicaSpec } from '../../runner/contract.js';
import { gpuDemand } from '../../runner/gpu-demand.js';
import type { FetchedModel } from '../models/model-state.js';

export interface TemplateParts {
  /** As stored, with sealed secrets. */
  readonly record: ResourceRecord;
  /** The same with its secrets. */
  readonly spec: EndpointSpec;
  readonly engine: EngineVersion;
  /** Null when the engine finds it itself. */
  readonly model: FetchedModel | null;
  /** How this very program is started. */
  readonly self: readonly string[];
}

/** What requests call the model of an endpoint. */
export const servedModel = ({ model }: Pick<EndpointSpec, 'model'>) => model.serve_as ?? model.name;

/**
 * A hash of all that makes replicas differ from others: who has another one has to be replaced. It is of the command that comes
 * out and not of how it was written, so that a new edition of an engine that changes nothing replaces nobody. How many there are,
 * how they are routed to and how they are replaced is not part of it, nor is where this program and the model happen to be.
 * Secrets go in as they are sealed, which changes when they do.
 */
export function specHashOf({ engine, model, record }: Omit<TemplateParts, 'spec' | 'self'>): string {
  const spec = record.spec as EndpointSpec;
  const { env, model: asked, resources, secret_env } = spec;
  const parts = {
    command: commandOf(engine, spec, asked.name, ['{self...}']),
    model: { file: asked.file, revision: model?.revision },
    env: { ...engine.env, ...env },
    ...{ secret_env, resources, health: engine.health_path },
  };
  return createHash('sha256').update(canonicalJson(parts)).digest('hex').slice(0, 16);
}

/** A replica as its runner takes it. */
export function replicaSpec(id: string, specHash: string, parts: TemplateParts): ReplicaSpec {
  const { engine, model, record, self, spec } = parts;
  const { cpu, gpus, memory, product } = spec.resources;
  const [command, ...args] = commandOf(engine, spec, model?.path ?? spec.model.name, self);
  return {
    id,
    workspace: record.workspace,
    endpoint: record.name,
    generation: record.generation,
    specHash,
    command: command!,
    args,
    env: { ...engine.env, ...spec.env, ...spec.secret_env },
    port: null,
    workingFolder: null,
    resources: {
      cpu: cpu ?? null,
      memoryBytes: memory === undefined ? null : memoryBytes(memory),
      gpus,
      product: product ?? null,
    },
    placement: spec.placement,
    healthPath: engine.health_path,
    startupTimeoutMs: spec.deployment.startup_timeout_s * 1000,
  };
}

function commandOf(engine: EngineVersion, spec: EndpointSpec, model: string, self: readonly string[]): string[] {
  const { devices, memoryFraction } = gpuDemand(spec.resources.gpus);
  return startCommand(engine, {
    model,
    modelName: spec.model.name,
    servedModel: servedModel(spec),
    task: spec.model.task,
    host: '127.0.0.1',
    port: PLACEHOLDERS.port,
    ...(devices > 1 ? { tensorParallel: devices } : {}),
    ...(memoryFraction > 0 && memoryFraction < 1 ? { gpuMemoryFraction: memoryFraction } : {}),
    variables: spec.variables,
    self,
  });
}

/** Names of replicas are theirs alone; they begin with that of the endpoint, so that people know them. */
export function replicaId({ name, workspace }: Pick<ResourceRecord, 'name' | 'workspace'>, random: string): string {
  const called = workspace === DEFAULT_WORKSPACE ? name : `${workspace}-${name}`;
  return `${called.slice(0, 50)}-${random}`;
}
