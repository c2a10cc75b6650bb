import { expect, test } from 'vitest';
import type { ReplicaPod } from './manifests/deployment.js';
import { replicaProblem } from './pod-state.js';

test('a pod that has a node is not reported as unschedulable', () => {
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no node' };
  const waiting = { name: 'engine', state: { waiting: { reason: 'ImagePullBackOff' } } };
  const pod = (nodeName?: string): ReplicaPod => ({
    metadata: { name: 'a' },
    spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) },
    status: { conditions: [condition], containerStatuses: [waiting] },
  });
  expect(replicaProblem(null, pod())).toBe('Unschedulable: no node');
  expect(replicaProblem(null, pod('n1'))).toBe('ImagePullBackOff');
});
