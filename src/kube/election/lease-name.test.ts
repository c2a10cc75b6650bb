import { expect, it } from 'vitest';
import { readLeaseTarget } from './lease-name.js';

const UNSET = { namespace: null, kubeconfig: null, context: null };

it.each([
  ['twinyard', { ...UNSET, name: 'twinyard' }],
  ['prod/twin.yard', { ...UNSET, namespace: 'prod', name: 'twin.yard' }],
  [
    'prod/a,kubeconfig=/k=1/config,context=lab',
    { namespace: 'prod', name: 'a', kubeconfig: '/k=1/config', context: 'lab' },
  ],
])('reads %s', (text, target) => {
  expect(readLeaseTarget(text, '--leader-lease')).toEqual(target);
});

it.each([
  ['', "'' is not a name in Kubernetes"],
  ['prod/', "'' is not a name in Kubernetes"],
  ['Prod/a', "'Prod' is not a namespace"],
  ['a/b/c', "'a/b/c' has more than one '/'"],
  ['a,namespace=b', "'namespace=b' is not a part of it"],
  ['a,kubeconfig=', "'kubeconfig=' is not a part of it"],
  ['a,context=b,context=c', 'has context twice'],
])("refuses '%s'", (text, problem) => {
  expect(() => readLeaseTarget(text, '--leader-lease')).toThrow(`--leader-lease: ${problem}; give NAMESPACE/NAME`);
});
