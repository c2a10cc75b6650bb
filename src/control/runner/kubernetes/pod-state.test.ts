import { expect, test } from 'vitest';
import type { ReplicaPod } from './manifests/deployment.js';
import { isPodOf, replicaProblem } from './pod-state.js';

test('a pod that has a node is not reported as unschedulable', () => {
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no node' };
  const waiting = { name: 'engine', state: { waiting: { reason: 'ImagePullBackOff' } } };
  const pod = (nodeName?: string): ReplicaPod => ({
    metadata: { name: 'a' },
    spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) },
    status: { conditions: [condition], containerStatuses: [waiting] },
  });
  expect(replicaProblem(null, pod(), () => null)).toBe('Unschedulable: no node');
  expect(replicaProblem(null, pod('n1'), () => null)).toBe('ImagePullBackOff');
});

test('the last warning of a pod is its problem while it has no other and its engine does not run', () => {
  const warning = (reason: string) => () => ({ metadata: { name: 'e' }, involvedObject: {}, reason, message: 'why' });
  const pod = (state: object, nodeName?: string): ReplicaPod => ({
    metadata: { name: 'a' },
    spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) },
    status: { containerStatuses: [{ name: 'engine', state }] },
  });
  const creating = { waiting: { reason: 'ContainerCreating' } };
  expect(replicaProblem(null, pod(creating, 'n1'), warning('FailedMount'))).toBe('FailedMount: why');
  expect(replicaProblem(null, pod({}), warning('FailedScheduling'))).toBe('Unschedulable: why');
  expect(replicaProblem(null, pod(creating, 'n1'), warning('FailedScheduling'))).toBeNull();
  expect(replicaProblem(null, pod({ running: {} }, 'n1'), warning('Unhealthy'))).toBeNull();
  expect(replicaProblem(null, pod({ waiting: { reason: 'ErrImagePull' } }, 'n1'), warning('Failed'))).toBe(
    'ErrImagePull',
  );
});

test('a pod belongs to a replica by its ReplicaSet, not by its labels', () => {
  const pod = (...ownerReferences: { kind: string; name: string }[]): ReplicaPod => ({
    metadata: { name: 'x', labels: { 'twinyard/replica': 'a' }, ownerReferences },
    spec: { containers: [] },
  });
  expect(isPodOf(pod({ kind: 'ReplicaSet', name: 'a-5f7d9' }), 'a')).toBe(true);
  expect(isPodOf(pod({ kind: 'ReplicaSet', name: 'a-copy-5f7d9' }), 'a')).toBe(false);
  expect(isPodOf(pod({ kind: 'Job', name: 'a-5f7d9' }), 'a')).toBe(false);
  expect(isPodOf(pod(), 'a')).toBe(false);
});
