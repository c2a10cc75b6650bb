import type { KubeKind } from './kube-kind.js';

/** A rule of a Role. */
export interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** What is done with objects of a kind, and the verbs that the API server checks for it. */
const VERBS = {
  get: ['get'],
  create: ['create'],
  update: ['update'],
  list: ['list'],
  /** By a list-watch loop. */
  follow: ['list', 'watch'],
  /** Server-side apply creates what does not exist. */
  apply: ['create', 'patch'],
  delete: ['delete'],
} as const;

/** A call that a part of the program makes. */
export interface KubeUse {
  readonly kind: KubeKind;
  readonly action: keyof typeof VERBS;
  /** A subresource. */
  readonly part?: string;
  /** Of the only object that is meant; `create` cannot be limited to one. */
  readonly name?: string;
}

const ORDER = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/** The least rights for a number of calls: one rule for each resource, or object of it. */
export function rulesFor(uses: readonly KubeUse[]): RoleRule[] {
  const verbs = new Map<string, Pick<KubeUse, 'name'> & { group: string; resource: string; verbs: Set<string> }>();
  for (const { action, kind, name, part } of uses) {
    const resource = part === undefined ? kind.resource : `${kind.resource}/${part}`;
    const key = `${kind.group}/${resource}/${name ?? ''}`;
    const rule = verbs.get(key) ?? {
      group: kind.group,
      resource,
      verbs: new Set(),
      ...(name === undefined ? {} : { name }),
    };
    for (const verb of VERBS[action]) rule.verbs.add(verb);
    verbs.set(key, rule);
  }
  return [...verbs.values()].map(({ group, name, resource, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    ...(name === undefined ? {} : { resourceNames: [name] }),
    verbs: ORDER.filter((verb) => verbs.has(verb)),
  }));
}

/** Who gets rights, and where they hold. */
export interface Grant {
  readonly name: string;
  /** Null: in the whole cluster, by a ClusterRole. */
  readonly namespace: string | null;
  readonly account: string;
  readonly accountNamespace: string;
}

/** A Role with these rules, and its binding to a service account, as YAML. */
export function roleManifests(rules: readonly RoleRule[], grant: Grant): string {
  const { account, accountNamespace, name, namespace } = grant;
  const kind = namespace === null ? 'ClusterRole' : 'Role';
  const metadata = namespace === null ? `{ name: ${name} }` : `{ name: ${name}, namespace: ${namespace} }`;
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}
metadata: ${metadata}
rules:
${rules.map((rule) => `  - ${ruleText(rule)}`).join('\n')}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}Binding
metadata: ${metadata}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ${kind}, name: ${name} }
subjects: [{ kind: ServiceAccount, name: ${account}, namespace: ${accountNamespace} }]
`;
}

function ruleText(rule: RoleRule): string {
  const texts = Object.entries(rule).map(([key, items]: [string, readonly string[]]) => {
    return `${key}: [${items.map((item) => (item === '' ? '""' : item)).join(', ')}]`;
  });
  return `{ ${texts.join(', ')} }`;
}
