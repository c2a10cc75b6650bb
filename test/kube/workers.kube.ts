import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { workersJob } from '../../src/experiment/queue/worker-manifests.js';
import { KubeLab, LAB_KUBECONFIG } from '../support/kube-lab.js';

describe.skipIf(LAB_KUBECONFIG === '')('workers of a queue in a cluster', () => {
  test.each([
    ['the URL itself', { queue: 'redis://redis.default:6379', secret: null, sharedPath: null }],
    ['a secret and a shared volume', { queue: null, secret: 'queue', sharedPath: '/mnt/traces' }],
  ])('are a Job that the API server accepts as it is printed, with %s', async (_with, changes) => {
    const lab = await KubeLab.start();
    const name = 'twinyard-workers';
    const manifest = workersJob({
      ...{ name, namespace: lab.namespace, image: null, workers: 3, cpus: 2, untilIdleS: 60 },
      ...changes,
    });
    const job = await lab.client.json(`/apis/batch/v1/namespaces/${lab.namespace}/jobs/${name}`, {
      ...{ method: 'PATCH', contentType: 'application/apply-patch+yaml', body: parse(manifest) },
      // Strict: a key that the API server does not know is an error.
      query: { fieldManager: 'test', fieldValidation: 'Strict', dryRun: 'All' },
    });
    expect(job).toMatchObject({ spec: { completionMode: 'Indexed', completions: 3, backoffLimitPerIndex: 3 } });
  });
});
