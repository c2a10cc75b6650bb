import { expect, test } from 'vitest';
import type { KubernetesSettings } from '../../contract.js';
import { fakeSpec } from '../../fake-engine.fixture.js';
import { quantity } from '../cluster-capacity.js';
import { isElsewhere, kubernetesSettings } from '../kubernetes-settings.js';
import { replicaLabels } from './replica-labels.js';
import { deploymentManifest, podSpec, secretManifest } from './replica-manifests.js';
import { NO_PROGRESS, readDeployment } from './replica-record.js';

const settings = (kubernetes: Partial<KubernetesSettings> = {}) => kubernetesSettings({ kubernetes });
const images = { nvidia: 'engine:gpu', amd: 'engine:rocm', cpu: 'engine:cpu' };
const resources = { cpu: 1.5, memoryBytes: 2 ** 30, gpus: 2, product: 'NVIDIA H100 80GB HBM3' };

test('a pod requests GPUs of a product, memory and CPUs, and has shared memory for NCCL', () => {
  expect(podSpec(fakeSpec('a', {}, { images, resources, drainMs: 60_000 }), settings())).toMatchObject({
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 93,
    nodeSelector: { 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3' },
    containers: [
      {
        image: 'engine:gpu',
        resources: {
          requests: { cpu: '1500m', memory: '1073741824', 'nvidia.com/gpu': '2' },
          limits: { memory: '1073741824', 'nvidia.com/gpu': '2' },
        },
        startupProbe: { httpGet: { path: '/health', port: 'http' }, failureThreshold: 60 },
        readinessProbe: { httpGet: { path: '/health', port: 'http' } },
        lifecycle: { preStop: { sleep: { seconds: 3 } } },
      },
    ],
    volumes: [{ name: 'shm', emptyDir: { medium: 'Memory' } }, { name: 'work' }],
  });
});

test('a share of a GPU needs the resource name of shared GPUs', () => {
  const half = fakeSpec('a', {}, { images, resources: { ...resources, gpus: 0.5, product: null } });
  expect(() => podSpec(half, settings())).toThrow('the cluster names no resource for shared GPUs');
  expect(podSpec(half, settings({ sharedGpuResource: 'nvidia.com/gpu.shared' }))).toMatchObject({
    containers: [{ resources: { limits: { 'nvidia.com/gpu.shared': '1' } } }],
  });
});

test('the image is that of the accelerator', () => {
  const imageFor = (gpus: number, gpuResource: string, given: Record<string, string> = images) =>
    podSpec(fakeSpec('a', {}, { images: given, resources: { ...resources, gpus } }), settings({ gpuResource }));
  expect(imageFor(0, 'nvidia.com/gpu')).toMatchObject({ containers: [{ image: 'engine:cpu' }] });
  expect(imageFor(1, 'amd.com/gpu')).toMatchObject({ containers: [{ image: 'engine:rocm' }] });
  expect(() => imageFor(0, 'nvidia.com/gpu', { nvidia: 'x' })).toThrow("no image for 'cpu' (it has nvidia)");
});

test('settings of the cluster reach the pod, and root is refused only where they say so', () => {
  const given = settings({
    ...{ imagePullSecrets: ['pull'], nodeSelector: { pool: 'gpu' }, serviceAccount: 'engines', runAsUser: 1000 },
    tolerations: [{ key: 'gpu', operator: 'Exists' }],
  });
  expect(podSpec(fakeSpec('a', {}, { images }), given)).toMatchObject({
    imagePullSecrets: [{ name: 'pull' }],
    nodeSelector: { pool: 'gpu' },
    serviceAccountName: 'engines',
    tolerations: [{ key: 'gpu', operator: 'Exists' }],
    securityContext: { runAsNonRoot: true, runAsUser: 1000 },
  });
  expect(podSpec(fakeSpec('a', {}, { images }), settings())).not.toHaveProperty('securityContext');
});

test('text that Kubernetes would replace is passed as it is', () => {
  const spec = fakeSpec('a', {}, { images, args: ['$(HOME)', '{{port}}'], env: { A: '$x $(Y)' } });
  expect(podSpec(spec, settings())).toMatchObject({
    containers: [{ args: ['$$(HOME)', '8000'], env: [{ name: 'A', value: '$$x $$(Y)' }] }],
  });
});

test('secrets are in the Secret, which the Deployment owns, and nowhere else', () => {
  const spec = fakeSpec('a', {}, { images, secretEnv: { TOKEN: 'hush' } });
  const labels = replicaLabels({ ...spec, engine: { name: 'vllm', version: 'v1+cu' } }, 'k8s', 7);
  expect(labels).toMatchObject({ 'twinyard/version': 'v1_cu', 'twinyard/engine': 'vllm', 'twinyard/cluster': 'k8s' });
  const parts = { namespace: 'prod', labels, podSpec: podSpec(spec, settings()) };
  const { endpoint, generation, id, specHash, startupTimeoutMs, workspace } = spec;
  const record = {
    ...{ id, workspace, endpoint, generation, specHash, startupTimeoutMs, startedAt: 7, port: 8000 },
    resources: spec.resources,
  };
  const deployment = deploymentManifest(record, NO_PROGRESS, parts);
  expect(JSON.stringify(deployment)).not.toContain('hush');
  expect(secretManifest(spec, parts, 'uid-1')).toMatchObject({
    metadata: { name: 'a', ownerReferences: [{ kind: 'Deployment', name: 'a', uid: 'uid-1' }] },
    data: { TOKEN: Buffer.from('hush').toString('base64') },
  });
  expect(readDeployment(deployment as never)).toEqual({ record, progress: NO_PROGRESS, podSpec: parts.podSpec });
  expect(readDeployment({ metadata: { name: 'a', labels } })).toBeNull();
});

test('quantities of Kubernetes are numbers', () => {
  expect(['64', '500m', '16Gi', '1e3', undefined, 'x'].map(quantity)).toEqual([64, 0.5, 16 * 2 ** 30, 1000, 0, 0]);
});

test('another namespace, context or kubeconfig is another cluster', () => {
  expect(isElsewhere({}, { kubernetes: { namespace: 'prod' } })).toBe(true);
  expect(isElsewhere({ kubernetes: { runAsUser: 1 } }, {})).toBe(false);
});
