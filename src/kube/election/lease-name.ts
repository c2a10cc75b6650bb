import { badLeaseName } from '../errors.js';

/** A Lease, and the cluster that it is in. Plain data: it stands in configuration files and flags. */
export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** What names a Lease before the cluster is known. */
export interface LeaseTarget {
  readonly name: string;
  /** Null: that of the kubeconfig's context, or of the pod. */
  readonly namespace: string | null;
  readonly kubeconfig: string | null;
  readonly context: string | null;
}

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const OPTIONS = ['kubeconfig', 'context'];

/** Reads `twinyard`, `prod/twinyard` and `prod/twinyard,kubeconfig=FILE`. @param place of the text, for errors */
export function readLeaseTarget(text: string, place: string): LeaseTarget {
  const [path = '', ...parts] = text.split(',');
  const options = new Map<string, string>();
  for (const part of parts) {
    const [name = '', ...rest] = part.split('=');
    if (!OPTIONS.includes(name) || rest.join('=') === '') throw badLeaseName(place, `'${part}' is not a part of it`);
    if (options.has(name)) throw badLeaseName(place, `has ${name} twice`);
    options.set(name, rest.join('='));
  }
  const names = path.split('/');
  if (names.length > 2) throw badLeaseName(place, `'${path}' has more than one '/'`);
  const target: LeaseTarget = {
    name: names.at(-1)!,
    namespace: names.length === 2 ? names[0]! : null,
    kubeconfig: options.get('kubeconfig') ?? null,
    context: options.get('context') ?? null,
  };
  const problem = leaseProblem(target);
  if (problem !== null) throw badLeaseName(place, problem);
  return target;
}

/** What is wrong with the names; null when nothing is. */
function leaseProblem({ name, namespace }: Pick<LeaseTarget, 'name' | 'namespace'>): string | null {
  if (!NAME.test(name)) return `'${name}' is not a name in Kubernetes`;
  if (namespace !== null && !NAMESPACE.test(namespace)) return `'${namespace}' is not a namespace`;
  return null;
}
