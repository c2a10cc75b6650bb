import { FOLLOWED_KINDS } from './followed-kinds.js';
import type { KubeTarget } from './kube-target.js';

interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** The calls of a list-watch loop. */
const VERBS = ['list', 'watch'];

/** The least rights that following these targets needs, from the calls that it makes. */
export function discoveryRules(by: readonly KubeTarget['by'][]): RoleRule[] {
  const kinds = new Set(by.flatMap((one) => FOLLOWED_KINDS[one]));
  return [...kinds].map(({ group, resource }) => ({ apiGroups: [group], resources: [resource], verbs: VERBS }));
}

/** A Role with those rights in the target's namespace, and its binding to a service account, as YAML. */
export function discoveryRole(target: KubeTarget, name: string, account: string, accountNamespace: string): string {
  const namespace = target.namespace ?? accountNamespace;
  const rules = discoveryRules([target.by]).map(
    ({ apiGroups, resources, verbs }) =>
      `  - { apiGroups: [${apiGroups.map((group) => (group === '' ? '""' : group)).join()}], resources: [${resources.join()}], verbs: [${verbs.join(', ')}] }`,
  );
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: ${name}, namespace: ${namespace} }
rules:
${rules.join('\n')}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: ${name}, namespace: ${namespace} }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: ${name} }
subjects: [{ kind: ServiceAccount, name: ${account}, namespace: ${accountNamespace} }]
`;
}
