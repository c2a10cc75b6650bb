import { expect, test } from 'vitest';
import type { KubeCall, KubeClient } from '../../../kube/kube-client.js';
import { notLeading } from '../errors.js';
import { ClusterCalls } from './cluster-calls.js';

test('checks before each change, and not before reads, whether this process may act', async () => {
  const sent: string[] = [];
  const client = {
    async json(path: string, { method = 'GET' }: KubeCall = {}) {
      sent.push(`${method} ${path.slice(path.lastIndexOf('/') + 1)}`);
      return {};
    },
  } as unknown as KubeClient;
  let isLeading = true;
  const calls = new ClusterCalls(client, 'engines', () => {
    if (!isLeading) throw notLeading('k8s');
  });
  const changes = [
    () => calls.applyDeployment('a', {}),
    () => calls.applySecret('b', {}),
    () => calls.deleteDeployment('c', 'u'),
    () => calls.deletePod('d', 'u', 0),
  ];
  for (const change of changes) await change();
  expect(sent.splice(0)).toEqual(['PATCH a', 'PATCH b', 'DELETE c', 'DELETE d']);
  isLeading = false;
  for (const change of changes) await expect(change()).rejects.toMatchObject({ code: 'RUNNER_NOT_LEADING' });
  await calls.getDeployment('a');
  expect(sent).toEqual(['GET a']);
});
