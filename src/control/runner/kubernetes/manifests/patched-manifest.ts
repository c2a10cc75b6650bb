import { isDeepStrictEqual } from 'node:util';
import { isLoaderVariable } from '../../../../engines/loader-variables.js';
import { ENGINE_CONTAINER } from '../../../../engines/pod/default-pod.js';
import { isFields } from '../../../../engines/pod/merge-pod.js';
import { type PatchOperation, patchedDocument } from '../../../../kernel/json/json-patch.js';
import { JsonPatchError } from '../../../../kernel/json/json-pointer.js';
import type { ManifestPatch } from '../../pod-source.js';
import { badManifestPatch } from '../errors.js';
import { isOwnName } from './replica-labels.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A manifest with patches applied, one operation after another. Refuses those that change what the replica is found, followed and
 * deleted by, and those of an endpoint that change the environment, which has rules of its own.
 */
export function patchedManifest(manifest: Fields, patches: readonly ManifestPatch[]): Fields {
  let patched = manifest;
  for (const { by, operations, owner } of patches) {
    const before = patched;
    for (const [i, operation] of operations.entries()) {
      const place = `${owner} (json_patches[${i}] ${operation.op} '${operation.path}')`;
      patched = afterOne(patched, operation, place);
      const lost = lostIdentity(manifest, patched);
      if (lost !== null) throw badManifestPatch(place, `changes ${lost}, which the control plane sets`);
      const variable = by === 'endpoint' ? changedVariable(before, patched) : null;
      if (variable !== null) throw badManifestPatch(place, variable);
    }
  }
  return patched;
}

function afterOne(manifest: Fields, operation: PatchOperation, place: string): Fields {
  try {
    const patched = patchedDocument(manifest, [operation]);
    if (!isFields(patched)) throw badManifestPatch(place, 'leaves no Deployment');
    return patched;
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
    throw badManifestPatch(place, error.problem);
  }
}

/** Fields that are compared as a whole. */
const FIXED = [
  'apiVersion',
  'kind',
  'metadata.name',
  'metadata.namespace',
  'spec.selector',
  'spec.replicas',
  'spec.strategy',
] as const;

/** What of the identity of a replica has changed; null when nothing has. */
function lostIdentity(before: Fields, after: Fields): string | null {
  const changed = FIXED.find((path) => !isDeepStrictEqual(at(before, path), at(after, path)));
  if (changed !== undefined) return changed;
  for (const path of ['metadata', 'spec.template.metadata']) {
    const metadata = mapAt(after, path);
    // An owner or a finalizer would decide when it is deleted.
    const other = Object.keys(metadata).find((key) => !Object.hasOwn(mapAt(before, path), key));
    if (other !== undefined) return `${path}.${other}`;
    const [labels, annotations] = [mapAt(after, `${path}.labels`), mapAt(after, `${path}.annotations`)];
    const label = Object.entries(mapAt(before, `${path}.labels`)).find(([name, value]) => labels[name] !== value)?.[0];
    if (label !== undefined) return `the label ${label}`;
    const own = [...Object.keys(labels), ...Object.keys(annotations)].find(
      (name) => isOwnName(name) && !Object.hasOwn(mapAt(before, `${path}.labels`), name),
    );
    if (own !== undefined) return own;
  }
  const engines = containersIn(after, 'containers').filter(({ name }) => name === ENGINE_CONTAINER);
  return engines.length === 1 ? null : `the container '${ENGINE_CONTAINER}'`;
}

const KINDS = ['containers', 'initContainers', 'ephemeralContainers'] as const;
const ENV_FIELDS = ['env', 'envFrom'] as const;
const RULE = "set environment variables in 'env' or 'secret_env' of the endpoint, where the rules for them hold";

/** What an endpoint may not do with the environment; null without a problem. */
function changedVariable(before: Fields, after: Fields): string | null {
  for (const kind of KINDS) {
    const known = new Map(containersIn(before, kind).map((one) => [one.name, one]));
    for (const one of containersIn(after, kind)) {
      const same = known.get(one.name);
      if (same !== undefined && ENV_FIELDS.some((field) => !isDeepStrictEqual(same[field], one[field]))) {
        return `changes the environment of container '${one.name}': ${RULE}`;
      }
      const loader = (Array.isArray(one.env) ? one.env : []).filter(isFields).find(({ name }) => {
        return same === undefined && typeof name === 'string' && isLoaderVariable(name);
      });
      if (loader !== undefined) return `sets ${loader.name}, which makes programs load code`;
    }
  }
  return null;
}

const containersIn = (manifest: Fields, kind: string): Fields[] => {
  const list = at(manifest, `spec.template.spec.${kind}`);
  return Array.isArray(list) ? list.filter(isFields) : [];
};

function at(manifest: Fields, path: string): unknown {
  let value: unknown = manifest;
  for (const key of path.split('.')) value = isFields(value) ? value[key] : undefined;
  return value;
}

const mapAt = (manifest: Fields, path: string): Fields => {
  const value = at(manifest, path);
  return isFields(value) ? value : {};
};
