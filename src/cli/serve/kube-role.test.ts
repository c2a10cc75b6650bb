import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { captured } from '../test-io.fixture.js';

interface Printed {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly object[];
}

const printed = async (flags: string): Promise<Printed[]> => {
  const { code, stdout } = await captured(`kube-role ${flags}`);
  expect(code).toBe(0);
  return parseAllDocuments(stdout).map((one) => one.toJS() as Printed);
};
const shown = (all: readonly Printed[]) =>
  all.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? '-'}/${metadata.name}`);

test('prints the Role of a target, of a runner, and of both', async () => {
  expect(shown(await printed('--kube selector=app=vllm,namespace=prod'))).toEqual([
    'Role prod/twinyard-discovery',
    'RoleBinding prod/twinyard-discovery',
  ]);
  const [role] = await printed('--runner engines');
  expect(role!.rules).toContainEqual({ apiGroups: ['apps'], resources: ['deployments'], verbs: expect.any(Array) });
  expect(shown(await printed('--kube service=vllm --runner engines --nodes --name gate'))).toEqual([
    ...['Role default/gate-discovery', 'RoleBinding default/gate-discovery'],
    ...['Role engines/gate-runner', 'RoleBinding engines/gate-runner'],
    ...['ClusterRole -/gate-capacity', 'ClusterRoleBinding -/gate-capacity'],
  ]);
  expect(shown(await printed('--runner engines --name gate'))).toEqual([
    'Role engines/gate',
    'RoleBinding engines/gate',
  ]);
});

test('prints the Role of an election', async () => {
  const [role] = await printed('--leader-lease prod/twinyard');
  expect(shown([role!])).toEqual(['Role prod/twinyard-lease']);
  expect(role!.rules).toContainEqual({
    ...{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: ['twinyard'] },
    verbs: ['get', 'update'],
  });
});

test('reads no Secret, and has rights in one namespace only', async () => {
  const [{ rules } = { rules: [] }] = await printed('--runner engines');
  const secrets = rules!.find((one) => JSON.stringify(one).includes('secrets'));
  expect(secrets).toEqual({ apiGroups: [''], resources: ['secrets'], verbs: ['create', 'patch'] });
});

test.each([
  ['', '--kube: is required'],
  ['--nodes --kube selector=app=x', '--runner: is required with --nodes'],
  ['--runner Not_a_name', 'is not a name in Kubernetes'],
])('kube-role %s is refused', async (flags, message) => {
  const { code, stderr } = await captured(`kube-role ${flags}`);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
