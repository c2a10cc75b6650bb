import type { ResourceRecord } from '../../../store/resources/resource-record.js';
import { engineVersion } from '../../resources/check-endpoint.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import type { EngineSpec, EngineVersion } from '../../resources/kinds/engine.js';
import type { ModelRegistrySpec } from '../../resources/kinds/model-registry.js';
import type { Status } from '../../resources/resource.js';
import type { ControlStore } from '../../store/control-store.js';
import { LOCAL_CLUSTER } from '../local-cluster.js';
import type { ModelFetches } from '../models/model-fetches.js';
import type { ModelState } from '../models/model-state.js';
import { registryOrigin } from '../models/registry-origin.js';
import type { DesiredEndpoint } from './endpoint-state.js';
import type { Hindrance } from './endpoint-status.js';
import { specHashOf } from './replica-template.js';

/** What an endpoint asks for, with all that it names looked up. */
export interface EndpointWish {
  readonly desired: DesiredEndpoint;
  /** Without it, the replicas cannot be described. */
  readonly engine: EngineVersion | null;
  readonly model: ModelState;
  /** What it names and what is not there. */
  readonly hindrance: Hindrance | null;
}

const NO_MODEL: ModelState = { state: 'ready', model: null };

/** @param key what its model is fetched for */
export async function endpointWish(
  record: ResourceRecord,
  key: string,
  { fetches, store }: { readonly fetches: ModelFetches; readonly store: ControlStore },
): Promise<EndpointWish> {
  const spec = record.spec as EndpointSpec;
  const { max_surge: maxSurge, max_unavailable: maxUnavailable } = spec.deployment;
  const replicas = record.deletedAt === null ? spec.replicas : 0;
  const numbers = { replicas, maxSurge, maxUnavailable };
  const known = (record.status as Status | null)?.model as Record<string, unknown> | undefined;
  const lacking = (message: string): EndpointWish => ({
    desired: { ...numbers, specHash: null },
    engine: null,
    model: NO_MODEL,
    hindrance: { message, isPassing: true },
  });
  if (replicas === 0) {
    fetches.forget(key);
    const facts = known === undefined ? null : { path: '', revision: '', facts: known };
    return {
      desired: { ...numbers, specHash: null },
      engine: null,
      model: { state: 'ready', model: facts },
      hindrance: null,
    };
  }
  if (spec.cluster !== LOCAL_CLUSTER) return lacking(`there is no cluster '${spec.cluster}' that could run it`);
  const found = await store.resources.get({ kind: 'Engine', workspace: '', name: spec.engine.name });
  const version = found === null ? null : engineVersion(found.spec as EngineSpec, spec.engine.version);
  if (version === null) {
    const called = spec.engine.version === undefined ? '' : ` ${spec.engine.version}`;
    return lacking(`there is no engine '${spec.engine.name}'${called}`);
  }
  const engine = version[1];
  const { file = null, name, registry, version: asked = null } = spec.model;
  if (registry === undefined) {
    fetches.forget(key);
    const specHash = specHashOf({ record, engine, model: null });
    return { desired: { ...numbers, specHash }, engine, model: NO_MODEL, hindrance: null };
  }
  const place = await store.resources.get({ kind: 'ModelRegistry', workspace: record.workspace, name: registry });
  if (place === null) return lacking(`there is no model registry '${registry}'`);
  const settings = store.secretsOf(place) as ModelRegistrySpec;
  const origin = registryOrigin(place, settings);
  const wanted = { registry, source: origin.address, name, version: asked, file };
  const model = fetches.stateOf(key, wanted, origin, known ?? null);
  const specHash = model.state === 'ready' ? specHashOf({ record, engine, model: model.model }) : null;
  return { desired: { ...numbers, specHash }, engine, model, hindrance: null };
}
