import { expect, it } from 'vitest';
import { fakeConfig } from '../../replica/fake-replica.fixture.js';
import { fakeCluster } from '../../simulator/fake-cluster.fixture.js';
import { gpusOf } from './measure.js';

it('counts the GPUs of all replicas, also of several kinds', () => {
  const replica = { ...fakeConfig(), tp: 2, dp: 1 };
  expect(gpusOf({ ...fakeCluster({ instances: 3 }), replica })).toBe(6);
  const fleet = [
    { count: 2, replica },
    { count: 1, replica: { ...replica, tp: 4 } },
  ];
  expect(gpusOf({ ...fakeCluster({ instances: 3 }), replica, fleet })).toBe(8);
});
