import { ENGINE_TASKS } from '../../engines/task.js';
import { EVERY_WORKSPACE } from '../../gateway/access/reach.js';
import type { InputError } from '../../kernel/errors.js';
import type { ResourceRef } from '../../store/resources/resource-record.js';
import { endpointProblems } from '../resources/check-endpoint.js';
import { invalidField, unknownReference } from '../resources/errors.js';
import type { KnownGpu } from '../resources/fit/planned-use.js';
import type { PlaceOf } from '../resources/kind.js';
import type { EngineSpec } from '../resources/kinds/engine.js';
import { memoryBytes } from '../resources/parts.js';
import { DEFAULT_WORKSPACE } from '../resources/resource.js';
import { DEFAULT_CLUSTER } from '../runner/registry.js';
import { unknownWorkspace } from './errors.js';

/** A resource as it was written; other errors in it are reported elsewhere. */
export interface Referring extends ResourceRef {
  readonly spec: unknown;
  readonly placeOf: PlaceOf;
}

/** A resource that can be referred to. */
export interface Present extends ResourceRef {
  /** Null when it may be invalid. */
  readonly spec: Readonly<Record<string, unknown>> | null;
  readonly status?: unknown;
}

/** The resources of a kind that exist and are not being deleted, or are part of the same change. */
export type PresentOf = (kind: string) => Promise<readonly Present[]>;

/** Of one list of names. */
const MOST_PROBLEMS = 100;

/** References to resources that do not exist. */
export async function referenceProblems(one: Referring, present: PresentOf): Promise<InputError[]> {
  const problems = await workspaceProblems(one, present);
  const spec = mapOf(one.spec);
  if (one.kind === 'Role') problems.push(...(await keyProblems(one, spec, present)));
  if (one.kind === 'ApiKey') problems.push(...(await grantProblems(one, spec, present)));
  if (one.kind !== 'Endpoint') return problems;
  const named = async (kind: string, called: string, workspace: string, path: string, given: unknown) => {
    if (typeof given !== 'string') return;
    const known = namesOf(await present(kind), workspace);
    if (known.includes(given)) return;
    problems.push(unknownReference(one.placeOf(path), `there is no ${called} '${given}'`, given, known));
  };
  await named('Cluster', 'cluster', '', 'spec.cluster', spec.cluster);
  await named('ModelRegistry', 'model registry', one.workspace, 'spec.model.registry', mapOf(spec.model).registry);
  problems.push(...(await engineProblems(one, spec, present)), ...(await patchedProblems(one, spec, present)));
  return problems;
}

/** Patches of an endpoint whose cluster has no manifests, or does not allow them. */
async function patchedProblems({ placeOf }: Referring, spec: Map, present: PresentOf): Promise<InputError[]> {
  if (!Array.isArray(spec.json_patches) || spec.json_patches.length === 0) return [];
  const name = spec.cluster ?? DEFAULT_CLUSTER;
  const cluster = (await present('Cluster')).find((other) => other.name === name);
  if (!cluster?.spec) return [];
  const place = placeOf('spec.json_patches');
  if (cluster.spec.type !== 'kubernetes') {
    return [invalidField(place, `cluster '${name}' has no manifests`, 'leave it out, or name a Kubernetes cluster')];
  }
  const allowed = mapOf(cluster.spec.kubernetes).json_patches ?? 'none';
  if (allowed !== 'none') return [];
  const hint = "leave it out, or ask an admin to set 'kubernetes.json_patches' in the cluster";
  return [invalidField(place, `cluster '${name}' allows no patches of endpoints`, hint)];
}

async function workspaceProblems({ placeOf, workspace }: Referring, present: PresentOf): Promise<InputError[]> {
  if (workspace === '' || workspace === DEFAULT_WORKSPACE) return [];
  const known = await workspaces(present);
  return known.includes(workspace) ? [] : [unknownWorkspace(placeOf('metadata.workspace'), workspace, known)];
}

const workspaces = async (present: PresentOf) => [
  ...new Set([DEFAULT_WORKSPACE, ...namesOf(await present('Workspace'), '')]),
];

async function grantProblems({ placeOf }: Referring, { grants }: Map, present: PresentOf): Promise<InputError[]> {
  const given = Array.isArray(grants) ? grants.map((grant) => mapOf(grant).workspace) : [];
  if (given.length === 0) return [];
  const known = await workspaces(present);
  return given.flatMap((workspace, i) => {
    if (typeof workspace !== 'string' || workspace === EVERY_WORKSPACE || known.includes(workspace)) return [];
    return [unknownWorkspace(placeOf(`spec.grants[${i}].workspace`), workspace, known)];
  });
}

async function keyProblems(one: Referring, { api_keys }: Map, present: PresentOf): Promise<InputError[]> {
  const keys: unknown[] = Array.isArray(api_keys) ? api_keys : [];
  const known = namesOf(await present('ApiKey'), one.workspace);
  const names = new Set<unknown>(known);
  const isUnknown = ({ given }: { readonly given: unknown }) => typeof given === 'string' && !names.has(given);
  return keys
    .map((given, i) => ({ given: given as string, path: `spec.api_keys[${i}]` }))
    .filter(isUnknown)
    .slice(0, MOST_PROBLEMS)
    .map(({ given, path }) => unknownReference(one.placeOf(path), `there is no ApiKey '${given}'`, given, known));
}

async function engineProblems({ placeOf }: Referring, spec: Map, present: PresentOf): Promise<InputError[]> {
  const { name, version } = mapOf(spec.engine);
  if (typeof name !== 'string') return [];
  const engines = await present('Engine');
  const engine = engines.find((other) => other.name === name);
  if (engine?.spec === null) return [];
  const cluster = (await present('Cluster')).find((other) => other.name === (spec.cluster ?? DEFAULT_CLUSTER));
  const model = mapOf(spec.model);
  const { gpus, product } = mapOf(spec.resources);
  const task = ENGINE_TASKS.find((known) => known === model.task);
  const extraArgs = cluster?.spec?.extra_args;
  const endpoint = {
    engine: typeof version === 'string' ? { name, version } : { name },
    model: {
      ...(task === undefined ? {} : { task }),
      ...(typeof model.name === 'string' ? { name: model.name } : {}),
    },
    variables: mapOf(spec.variables),
    resources: {
      ...(typeof gpus === 'number' ? { gpus } : {}),
      ...(typeof product === 'string' ? { product } : {}),
    },
    hasExtraArgs: extraArgs === 'admin' || extraArgs === 'operator',
    accelerators: cluster === undefined ? [] : knownGpus(cluster),
  };
  return endpointProblems(endpoint, (engine?.spec as EngineSpec | undefined) ?? null, namesOf(engines, ''), placeOf);
}

/** The GPUs of a cluster whose memory is known: as observed, else as declared. */
function knownGpus({ spec, status }: Present): KnownGpu[] {
  const observed = listOfMaps(mapOf(status).accelerators).map(({ memory_mib, product }) => ({
    product,
    memoryGiB: typeof memory_mib === 'number' ? memory_mib / 1024 : 0,
  }));
  const declared = listOfMaps(spec?.accelerators).map(({ memory, product }) => ({
    product,
    memoryGiB: typeof memory === 'string' ? memoryBytes(memory) / 2 ** 30 : 0,
  }));
  const isKnown = (gpu: { product: unknown; memoryGiB: number }): gpu is KnownGpu =>
    typeof gpu.product === 'string' && gpu.memoryGiB > 0;
  return (observed.length > 0 ? observed : declared).filter(isKnown);
}

const listOfMaps = (value: unknown): Map[] => (Array.isArray(value) ? value.map(mapOf) : []);

type Map = Readonly<Record<string, unknown>>;

const mapOf = (value: unknown): Map =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Map) : {};

const namesOf = (some: readonly Present[], workspace: string) =>
  some.filter((one) => one.workspace === workspace).map(({ name }) => name);
