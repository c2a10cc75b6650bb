import { isLoaderVariable } from '../../../engines/loader-variables.js';
import type { ResourceRecord } from '../../../store/resources/resource-record.js';
import { engineVersion } from '../../resources/check-endpoint.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import type { EngineSpec, EngineVersion } from '../../resources/kinds/engine.js';
import type { ModelRegistrySpec } from '../../resources/kinds/model-registry.js';
import type { Status } from '../../resources/resource.js';
import type { ModelState } from '../models/model-state.js';
import { registryOrigin } from '../models/registry-origin.js';
import type { EndpointParts } from './endpoint-parts.js';
import type { DesiredEndpoint } from './plan/endpoint-state.js';
import { type ModelDownload, specHashOf } from './replica-template.js';
import type { Blocker } from './status/endpoint-status.js';

/** An endpoint with everything that it names looked up. */
export interface ResolvedEndpoint {
  readonly desired: DesiredEndpoint;
  /** Null: replicas cannot be described. */
  readonly engine: EngineVersion | null;
  readonly model: ModelState;
  readonly download: ModelDownload | null;
  /** What it names and does not exist. */
  readonly blocker: Blocker | null;
}

const NO_MODEL: ModelState = { state: 'ready', model: null };

/** @param key identifies the endpoint's model download */
export async function resolveEndpoint(
  record: ResourceRecord,
  key: string,
  { fetches, runners, store }: Pick<EndpointParts, 'fetches' | 'runners' | 'store'>,
): Promise<ResolvedEndpoint> {
  const spec = record.spec as EndpointSpec;
  const { max_surge: maxSurge, max_unavailable: maxUnavailable } = spec.deployment;
  const replicas = record.deletedAt === null ? spec.replicas : 0;
  const numbers = { replicas, maxSurge, maxUnavailable };
  const known = (record.status as Status | null)?.model as Record<string, unknown> | undefined;
  const blocked = (message: string): ResolvedEndpoint => ({
    desired: { ...numbers, specHash: null },
    engine: null,
    model: NO_MODEL,
    download: null,
    blocker: { message, isTransient: true },
  });
  if (Object.keys(spec.secret_env).length > 0) rememberSecrets(store, record);
  if (replicas === 0) {
    fetches.forget(key);
    return withoutReplicas(record);
  }
  // The API refuses them; a store of an earlier release, or a restored one, may have them.
  const loader = [...Object.keys(spec.env), ...Object.keys(spec.secret_env)].find(isLoaderVariable);
  if (loader !== undefined) return blocked(`no endpoint may set ${loader}: remove it from its environment`);
  const runner = runners.typeOf(spec.cluster);
  if (runner === null) return blocked(`cluster '${spec.cluster}' does not exist or is not connected`);
  const found = await store.resources.get({ kind: 'Engine', workspace: '', name: spec.engine.name });
  const version = found === null ? null : engineVersion(found.spec as EngineSpec, spec.engine.version);
  if (version === null) {
    const called = spec.engine.version === undefined ? '' : ` ${spec.engine.version}`;
    return blocked(`engine '${spec.engine.name}'${called} does not exist`);
  }
  const engine = version[1];
  const { file = null, name, registry, version: wantedVersion = null } = spec.model;
  const byEngine = (download: ModelDownload | null): ResolvedEndpoint => {
    fetches.forget(key);
    const specHash = specHashOf({ record, engine, model: null, download, isPod: runner.runsPods });
    return { desired: { ...numbers, specHash }, engine, model: NO_MODEL, download, blocker: null };
  };
  if (registry === undefined) return byEngine(null);
  const place = await store.resources.get({ kind: 'ModelRegistry', workspace: record.workspace, name: registry });
  if (place === null) return blocked(`model registry '${registry}' does not exist`);
  const settings = store.secretsOf(place) as ModelRegistrySpec;
  // Elsewhere the cache of this machine cannot be read: the engine downloads its model.
  if (!runner.runsHere) {
    if (settings.type !== 'file') return byEngine(modelDownload(settings));
    return blocked(
      `model registry '${registry}' is a folder of this machine: replicas of cluster '${spec.cluster}' cannot read it`,
    );
  }
  const origin = registryOrigin(place, settings);
  const requested = { registry, source: origin.address, name, version: wantedVersion, file };
  const model = fetches.stateOf(key, requested, origin, known ?? null);
  const specHash = model.state === 'ready' ? specHashOf({ record, engine, model: model.model }) : null;
  return { desired: { ...numbers, specHash }, engine, model, download: null, blocker: null };
}

/** Engines read these variables of the Hugging Face client. */
const modelDownload = ({ token, url }: ModelRegistrySpec): ModelDownload => ({
  env: url === undefined ? {} : { HF_ENDPOINT: url },
  secretEnv: token === undefined ? {} : { HF_TOKEN: token },
});

/** An endpoint that is paused or being deleted: what it names need not exist. */
export function withoutReplicas({ spec, status }: Pick<ResourceRecord, 'spec' | 'status'>): ResolvedEndpoint {
  const { max_surge: maxSurge, max_unavailable: maxUnavailable } = (spec as EndpointSpec).deployment;
  const known = (status as Status | null)?.model as Record<string, unknown> | undefined;
  const facts = known === undefined ? null : { path: '', revision: '', facts: known };
  return {
    desired: { replicas: 0, specHash: null, maxSurge, maxUnavailable },
    engine: null,
    model: { state: 'ready', model: facts },
    download: null,
    blocker: null,
  };
}

/** Decrypted secrets are removed from logs, also from those of replicas that an earlier control plane has started. */
function rememberSecrets(store: EndpointParts['store'], record: ResourceRecord): void {
  try {
    store.secretsOf(record);
  } catch {
    // They cannot be decrypted: starting a replica reports it.
  }
}
