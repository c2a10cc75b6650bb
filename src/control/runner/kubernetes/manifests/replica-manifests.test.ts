import { expect, test } from 'vitest';
import type { ReplicaSpec } from '../../contract.js';
import { fakeSpec } from '../../fake-engine.fixture.js';
import type { KubernetesSettings } from '../../kubernetes-cluster.js';
import type { ManifestPatch, PodSource } from '../../pod-source.js';
import { quantity } from '../capacity/pod-demand.js';
import { isElsewhere, kubernetesSettings } from '../kubernetes-settings.js';
import { renderedPod } from './rendered-pod.js';
import { ownLabels, replicaLabels, selectorOf } from './replica-labels.js';
import { deploymentManifest, renderedDeployment, secretManifest } from './replica-manifests.js';
import { NO_PROGRESS, readDeployment } from './replica-record.js';

const settings = (kubernetes: Partial<KubernetesSettings> = {}) => kubernetesSettings({ kubernetes });
const podSpec = (spec: ReplicaSpec, given: KubernetesSettings) => renderedPod(spec, given).podSpec;
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

test('the product of AMD GPUs is the label of their own labeller', () => {
  const amd = { ...resources, product: 'AMD Instinct MI300X OAM' };
  expect(
    podSpec(fakeSpec('a', {}, { images, resources: amd }), settings({ gpuResource: 'amd.com/gpu' })),
  ).toMatchObject({
    nodeSelector: { 'amd.com/gpu.product-name': 'AMD_Instinct_MI300X_OAM' },
    containers: [{ image: 'engine:rocm', resources: { limits: { 'amd.com/gpu': '2' } } }],
  });
});

test('models are downloaded to the volume of the cluster, unless the endpoint says where', () => {
  const given = settings({ modelCache: 'models' });
  const envOf = (env: Record<string, string>) => {
    const [engine] = podSpec(fakeSpec('a', {}, { images, env }), given).containers as { env: object[] }[];
    return engine!.env;
  };
  expect(podSpec(fakeSpec('a', {}, { images }), given)).toMatchObject({
    containers: [{ volumeMounts: [{ name: 'shm' }, { name: 'work' }, { name: 'models', mountPath: '/models' }] }],
    volumes: [{ name: 'shm' }, { name: 'work' }, { name: 'models', persistentVolumeClaim: { claimName: 'models' } }],
  });
  expect(envOf({})).toEqual([{ name: 'HF_HOME', value: '/models' }]);
  expect(envOf({ HF_HOME: '/models/mine' })).toEqual([{ name: 'HF_HOME', value: '/models/mine' }]);
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
  const labels = replicaLabels({ ...spec, engine: { name: 'vllm', version: 'v1+cu' } }, { cluster: 'k8s' }, 7);
  expect(labels).toMatchObject({ 'twinyard/version': 'v1_cu', 'twinyard/engine': 'vllm', 'twinyard/cluster': 'k8s' });
  const { manifest: rendered, port } = renderedDeployment(spec, settings(), { namespace: 'prod', labels });
  const { endpoint, generation, id, specHash, startupTimeoutMs, workspace } = spec;
  const record = {
    ...{ id, workspace, endpoint, generation, specHash, startupTimeoutMs, startedAt: 7, port },
    resources: spec.resources,
  };
  const deployment = deploymentManifest(record, NO_PROGRESS, rendered);
  expect(JSON.stringify(deployment)).not.toContain('hush');
  expect(secretManifest(spec, rendered, port, 'uid-1')).toMatchObject({
    metadata: { name: 'a', ownerReferences: [{ kind: 'Deployment', name: 'a', uid: 'uid-1' }] },
    data: { TOKEN: Buffer.from('hush').toString('base64') },
  });
  const { metadata, spec: applied } = rendered;
  expect(readDeployment(deployment as never)).toEqual({
    ...{ record, progress: NO_PROGRESS },
    rendered: { metadata, spec: applied },
  });
  expect(readDeployment({ metadata: { name: 'a', labels } })).toBeNull();
});

const source = (change: Partial<PodSource>): PodSource => ({ template: {}, values: {}, patches: [], ...change });

test('the template of an engine version is merged into the pod, and names the port', () => {
  const template = {
    initContainers: [
      {
        name: 'download',
        image: '{image}',
        command: ['hf', 'download', '{hub_model}', ['--revision', '{hub_revision}'], '--local-dir', '/models'],
        env: ['{env...}'],
        volumeMounts: [{ name: 'models', mountPath: '/models' }],
      },
    ],
    containers: [
      {
        name: 'engine',
        ports: [{ name: 'http', containerPort: 9000 }],
        resources: { limits: { 'ephemeral-storage': '200Gi' } },
        volumeMounts: [{ name: 'models', mountPath: '/models' }],
      },
    ],
    volumes: [{ name: 'models', persistentVolumeClaim: { claimName: 'models' } }],
  };
  const pod = source({ template, values: { hub_model: 'acme/tiny', hub_revision: undefined } });
  const given = { images, args: ['{{port}}'], secretEnv: { HF_TOKEN: 'hush' }, pod };
  const rendered = renderedPod(fakeSpec('a', {}, given), settings());
  expect(rendered.port).toBe(9000);
  const token = { name: 'HF_TOKEN', valueFrom: { secretKeyRef: { name: 'a', key: 'HF_TOKEN' } } };
  expect(rendered.podSpec).toMatchObject({
    initContainers: [
      {
        image: 'engine:cpu',
        command: ['hf', 'download', 'acme/tiny', '--local-dir', '/models'],
        env: [token],
      },
    ],
    containers: [
      {
        args: ['9000'],
        ports: [{ containerPort: 9000, name: 'http' }],
        resources: { limits: { 'ephemeral-storage': '200Gi' } },
        env: [token],
        volumeMounts: [{ mountPath: '/dev/shm' }, { name: 'work' }, { name: 'models' }],
      },
    ],
    volumes: [{ name: 'shm' }, { name: 'work' }, { name: 'models' }],
  });
});

const TEMPLATE = '/spec/template/spec';
const patched = (operations: ManifestPatch['operations'], by: ManifestPatch['by'] = 'engine', allowed = true) => {
  const pod = source({ patches: [{ by, owner: "engine 'x' v1", operations }] });
  const spec = fakeSpec('a', {}, { images, env: { A: 'b' }, pod });
  const labels = replicaLabels(spec, { cluster: 'k8s' }, 7);
  return renderedDeployment(spec, settings({ allowsEndpointPatches: allowed }), { labels, namespace: 'prod' }).manifest;
};

test('patches change the manifest, and mending applies the patched one', () => {
  const manifest = patched([
    { op: 'add', path: `${TEMPLATE}/hostIPC`, value: true },
    { op: 'add', path: '/metadata/annotations/team', value: 'a' },
    { op: 'add', path: '/spec/template/metadata/labels/team', value: 'a' },
    { op: 'test', path: '/spec/replicas', value: 1 },
    { op: 'replace', path: `${TEMPLATE}/containers/0/image`, value: 'mine' },
    { op: 'copy', from: `${TEMPLATE}/volumes/0`, path: `${TEMPLATE}/volumes/-` },
    { op: 'replace', path: `${TEMPLATE}/volumes/2/name`, value: 'copy' },
    { op: 'move', from: `${TEMPLATE}/containers/0/lifecycle`, path: `${TEMPLATE}/containers/0/livenessProbe` },
    { op: 'remove', path: `${TEMPLATE}/containers/0/livenessProbe` },
  ]);
  expect(manifest).toMatchObject({
    metadata: { annotations: { team: 'a' }, labels: { 'twinyard/replica': 'a' } },
    spec: {
      template: { metadata: { labels: { team: 'a' } }, spec: { hostIPC: true, containers: [{ image: 'mine' }] } },
    },
  });
  expect(JSON.stringify(manifest)).not.toContain('preStop');
  const written = deploymentManifest({} as never, { ...NO_PROGRESS, ending: 'stopped' }, manifest, 'u');
  expect(written).toMatchObject({ metadata: { uid: 'u', annotations: { team: 'a' } }, spec: { replicas: 0 } });
});

test('a patch that does not fit is refused with its index, its operation and its pointer', () => {
  const good = { op: 'add', path: '/metadata/annotations/a', value: 'b' } as const;
  expect(() => patched([good, { op: 'remove', path: `${TEMPLATE}/containers/3` }])).toThrow(
    "engine 'x' v1 (json_patches[1] remove '/spec/template/spec/containers/3'): names a field that does not exist",
  );
  expect(() => patched([{ op: 'test', path: '/spec/replicas', value: 2 }])).toThrow('differs from the value there');
});

test.each<[string, ManifestPatch['operations'][number]]>([
  ['metadata.name', { op: 'replace', path: '/metadata/name', value: 'b' }],
  ['metadata.namespace', { op: 'replace', path: '/metadata/namespace', value: 'kube-system' }],
  ['kind', { op: 'replace', path: '/kind', value: 'DaemonSet' }],
  ['metadata.ownerReferences', { op: 'add', path: '/metadata/ownerReferences', value: [] }],
  ['metadata.finalizers', { op: 'add', path: '/metadata/finalizers', value: ['x/y'] }],
  ['label twinyard/cluster', { op: 'remove', path: '/metadata/labels/twinyard~1cluster' }],
  ['metadata.name', { op: 'replace', path: '/metadata', value: {} }],
  ['apiVersion', { op: 'replace', path: '', value: {} }],
  ['label twinyard/start', { op: 'replace', path: '/spec/template/metadata/labels/twinyard~1start', value: '1' }],
  ['spec.selector', { op: 'replace', path: '/spec/selector', value: { matchLabels: { a: 'b' } } }],
  ['spec.replicas', { op: 'replace', path: '/spec/replicas', value: 100 }],
  ['spec.strategy', { op: 'replace', path: '/spec/strategy', value: { type: 'RollingUpdate' } }],
  ['twinyard/record', { op: 'add', path: '/metadata/annotations/twinyard~1record', value: '{}' }],
  ["container 'engine'", { op: 'replace', path: `${TEMPLATE}/containers/0/name`, value: 'other' }],
  ['spec.selector', { op: 'move', from: '/spec/selector', path: '/spec/was' }],
])('no patch changes %s', (what, operation) => {
  expect(() => patched([operation])).toThrow(`${what}, which the control plane sets`);
});

test('patches of an endpoint need a cluster that allows them, and leave the environment alone', () => {
  const mount = { op: 'add', path: `${TEMPLATE}/hostIPC`, value: true } as const;
  expect(() => patched([mount], 'endpoint', false)).toThrow('the cluster allows no patches of endpoints');
  expect(patched([mount], 'endpoint')).toMatchObject({ spec: { template: { spec: { hostIPC: true } } } });
  const variable = { name: 'LD_PRELOAD', value: '/tmp/x.so' };
  const add = { op: 'add', path: `${TEMPLATE}/containers/0/env/-`, value: variable } as const;
  expect(() => patched([add], 'endpoint')).toThrow("changes the environment of container 'engine'");
  expect(patched([add])).toMatchObject({ spec: {} });
  const from = { op: 'add', path: `${TEMPLATE}/containers/0/envFrom`, value: [{ secretRef: { name: 'x' } }] } as const;
  expect(() => patched([from], 'endpoint')).toThrow("changes the environment of container 'engine'");
  const sidecar = { name: 'side', image: 'x', env: [variable] };
  const second = { op: 'add', path: `${TEMPLATE}/containers/-`, value: sidecar } as const;
  expect(() => patched([second], 'endpoint')).toThrow('sets LD_PRELOAD, which makes programs load code');
});

test('a Cluster of the same name in another store has other labels', () => {
  const of = (clusterUid?: string) => selectorOf(ownLabels({ cluster: 'k8s', clusterUid }));
  expect(of('u1')).toBe('app.kubernetes.io/managed-by=twinyard,twinyard/cluster=k8s,twinyard/cluster-uid=u1');
  expect(of('u2')).not.toBe(of('u1'));
});

test('quantities of Kubernetes are numbers', () => {
  expect(['64', '500m', '16Gi', '1e3', undefined, 'x'].map(quantity)).toEqual([64, 0.5, 16 * 2 ** 30, 1000, 0, 0]);
});

test('another namespace, context or kubeconfig is another cluster', () => {
  expect(isElsewhere({}, { kubernetes: { namespace: 'prod' } })).toBe(true);
  expect(isElsewhere({ kubernetes: { runAsUser: 1 } }, {})).toBe(false);
});
