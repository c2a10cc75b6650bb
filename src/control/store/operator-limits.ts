import type { InputError } from '../../kernel/errors.js';
import { canonicalJson } from '../../kernel/text/canonical-json.js';
import { shownRef } from '../../store/resources/resource-errors.js';
import type { ResourceRecord } from '../../store/resources/resource-record.js';
import type { ResourceTransaction } from '../../store/resources/resource-transaction.js';
import { engineVersion } from '../resources/check-endpoint.js';
import type { PlaceOf } from '../resources/kind.js';
import type { ClusterSpec } from '../resources/kinds/cluster.js';
import type { EndpointSpec } from '../resources/kinds/endpoint.js';
import type { EngineSpec } from '../resources/kinds/engine.js';
import type { ModelRegistrySpec } from '../resources/kinds/model-registry.js';
import { type PrivilegedPart, privilegedParts, type RunParts } from '../resources/privileges/privileged-parts.js';
import { needsAdminRole } from './errors.js';

/** A resource that a caller without the role admin in every workspace has put, as the store has it before and after. */
export interface OperatorChange {
  readonly before: ResourceRecord | null;
  readonly after: ResourceRecord;
  readonly placeOf: PlaceOf;
}

/** Of one endpoint. */
const MOST_PROBLEMS = 100;

/** The resources of the same transaction. */
type Records = Pick<ResourceTransaction, 'get' | 'list'>;

/**
 * What of a change needs an admin. An operator may change an endpoint that an admin has given more rights, as long as the endpoint
 * runs the same: code of another model would run with those rights. The same holds for the registry of its model.
 */
export async function operatorProblems(change: OperatorChange, records: Records): Promise<InputError[]> {
  if (change.after.kind === 'Endpoint') return endpointLimits(change, records);
  if (change.after.kind === 'ModelRegistry') return registryLimits(change, records);
  return [];
}

async function endpointLimits({ after, before, placeOf }: OperatorChange, records: Records): Promise<InputError[]> {
  const parts = await partsOf(after, records);
  if (parts.length === 0 || (before !== null && runs(before.spec) === runs(after.spec))) return [];
  return parts.slice(0, MOST_PROBLEMS).map(({ hint, path, problem }) => {
    const isOld = before !== null && valueAt(before.spec, path) === valueAt(after.spec, path);
    const more = isOld ? ': an endpoint that has it runs only what an admin applied' : '';
    return needsAdminRole(placeOf(path), problem + more, hint);
  });
}

async function registryLimits({ after, before, placeOf }: OperatorChange, records: Records): Promise<InputError[]> {
  const now = after.spec as ModelRegistrySpec;
  const was = before?.spec as ModelRegistrySpec | undefined;
  if (was === undefined || (was.url === now.url && was.type === now.type)) return [];
  for (const one of await records.list('Endpoint')) {
    const { model } = one.spec as EndpointSpec;
    if (one.workspace !== after.workspace || model.registry !== after.name) continue;
    const [part] = await partsOf(one, records);
    if (part === undefined) continue;
    const problem = `${shownRef(one)} has ${part.path} of an admin and loads its model from here`;
    return [needsAdminRole(placeOf('spec.url'), problem, 'ask an admin, or create another registry')];
  }
  return [];
}

async function partsOf({ spec: given }: ResourceRecord, records: Records): Promise<PrivilegedPart[]> {
  const spec = given as EndpointSpec;
  const global = (kind: string, name: string) => records.get({ kind, workspace: '', name });
  const engine = await global('Engine', spec.engine.name);
  const version = engine === null ? null : engineVersion(engine.spec as EngineSpec, spec.engine.version);
  // An unknown engine is reported elsewhere, and refuses the change.
  if (version === null) return [];
  const cluster = await global('Cluster', spec.cluster);
  return privilegedParts(spec, version[1], (cluster?.spec as ClusterSpec | undefined) ?? null);
}

/** The parts that decide what runs. Secrets are compared in their encrypted form, which stays while they do. */
function runs(given: ResourceRecord['spec']): string {
  const { cluster, engine, env, json_patches, model, secret_env, variables } = given as unknown as RunParts;
  return canonicalJson({ cluster, engine, env, json_patches, model, secret_env, variables });
}

function valueAt(spec: unknown, path: string): string {
  let value: unknown = { spec };
  for (const step of path.split(/[.[\]]+/).filter((one) => one !== '')) {
    value = (value as Record<string, unknown> | undefined | null)?.[step];
  }
  return canonicalJson(value ?? null);
}
