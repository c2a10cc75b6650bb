import { ENGINE_CONTAINER } from '../../engines/pod/default-pod.js';
import { templateProblems } from '../../engines/pod/fill-pod.js';
import { isFields } from '../../engines/pod/merge-pod.js';
import type { InputError } from '../../kernel/errors.js';
import { checkedPatch } from '../../kernel/json/json-patch.js';
import { JsonPatchError } from '../../kernel/json/json-pointer.js';
import { invalidField } from './errors.js';
import type { PlaceOf } from './kind.js';

/** Lists of a pod whose items are merged by their names. */
const NAMED = ['containers', 'initContainers', 'volumes'] as const;

/** What is wrong with the pod template of an engine version, as far as it shows without a cluster. */
export function podProblems(pod: Readonly<Record<string, unknown>>, path: string, placeOf: PlaceOf): InputError[] {
  const problems = templateProblems(pod).map(({ hint, path: inner, problem }) =>
    invalidField(placeOf(`${path}${inner}`), problem, hint),
  );
  for (const key of NAMED) {
    const list = pod[key];
    const place = placeOf(`${path}.${key}`);
    if (list === undefined) continue;
    if (!Array.isArray(list) || !list.every((one) => isFields(one) && typeof one.name === 'string')) {
      problems.push(invalidField(place, 'is not a list of items with names', 'write it as in a pod of Kubernetes'));
    } else if (new Set(list.map(({ name }) => name)).size < list.length) {
      problems.push(invalidField(place, 'has two items of the same name', 'give each a name of its own'));
    }
  }
  const isPodSpec = ['metadata', 'spec', 'apiVersion', 'kind'].every((key) => !Object.hasOwn(pod, key));
  if (isPodSpec) return problems;
  const hint = `give the spec alone, as in 'containers: [{name: ${ENGINE_CONTAINER}, ...}]'`;
  return [...problems, invalidField(placeOf(path), 'is a manifest, not the spec of a pod', hint)];
}

/** Pointers to what a replica is found, followed and deleted by. The runner refuses whatever else changes them. */
const GUARDED =
  /^\/(?:apiVersion|kind|metadata\/(?!labels|annotations)|spec\/(?:selector|replicas|strategy)(?:\/|$)|spec\/template\/metadata\/(?!labels|annotations)|(?:spec\/template\/)?metadata\/(?:labels|annotations)\/(?:twinyard~1|app\.kubernetes\.io~1))/;

/** What is wrong with operations before there is a manifest to apply them to. */
export function patchProblems(operations: readonly unknown[], path: string, placeOf: PlaceOf): InputError[] {
  try {
    return checkedPatch(operations).flatMap((one, i) => {
      const isMoved = one.op === 'move' && GUARDED.test(one.from);
      if (one.op === 'test' || !(isMoved || GUARDED.test(one.path))) return [];
      const pointer = isMoved ? one.from : one.path;
      const place = placeOf(`${path}[${i}].${isMoved ? 'from' : 'path'}`);
      return [invalidField(place, `${pointer} is set by the control plane`, 'patch other fields')];
    });
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
    return [invalidField(placeOf(`${path}${error.place}`), error.problem, error.hint)];
  }
}
