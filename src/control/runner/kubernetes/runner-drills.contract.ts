import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ReplicaHandle, RunnerEvent } from '../contract.js';
import type { KubernetesGround } from './kubernetes-ground.fixture.js';
import { until } from './kubernetes-ground.fixture.js';
import type { KubernetesRunner } from './kubernetes-runner.js';

interface SeenDeployment {
  readonly metadata: { readonly uid: string; readonly labels: Record<string, string> };
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: { image: string }[] } };
  };
}

const MERGE = 'application/merge-patch+json';
const STATUS = 'application/strategic-merge-patch+json';

/** What others do to the objects of a runner, and what Kubernetes reports of pods that do not start. */
export function runnerDrills(newGround: () => Promise<KubernetesGround>): void {
  describe('a Kubernetes runner', () => {
    let ground: KubernetesGround;
    let runner: KubernetesRunner;
    let events: RunnerEvent[];

    beforeEach(async () => {
      ground = await newGround();
      runner = await ground.open();
      events = [];
      runner.watch((event) => events.push(event));
    });
    afterEach(async () => {
      await runner.close();
      await ground.clear();
    });

    const happened = async (type: RunnerEvent['type'], id: string): Promise<ReplicaHandle> => {
      const find = () => events.find((one) => one.type === type && one.replica.id === id)?.replica;
      await until(() => find() !== undefined);
      return find()!;
    };
    const deployment = (id: string) => ground.client.json<SeenDeployment>(ground.deployment(id));
    const handleOf = async (id: string) => (await runner.list()).find((one) => one.id === id)!;
    const pods = '/api/v1/namespaces/';
    const podOf = async (id: string) => {
      const path = `${pods}${ground.namespace}/pods`;
      const { items } = await ground.client.json<{
        items: { metadata: { name: string; labels: Record<string, string> } }[];
      }>(path);
      return items.find(({ metadata }) => metadata.labels['twinyard/replica'] === id)?.metadata.name ?? null;
    };
    const problemOf = async (id: string, word: string) => {
      const problems = () => events.filter(({ replica, type }) => type === 'problem' && replica.id === id);
      const find = () => problems().find(({ replica }) => replica.problem!.includes(word));
      await until(() => find() !== undefined);
      return find()!.replica.problem;
    };
    /** A pod whose status the test sets, as a kubelet would. */
    const withStatus = async (id: string, state: object, more: object = {}) => {
      ground.kubelet.ignored.add(id);
      await runner.start(ground.spec(id));
      let name: string | null = null;
      while (name === null) name = await podOf(id);
      const status = { name: 'engine', image: 'x', imageID: '', ready: false, restartCount: 0, state, ...more };
      await ground.client.json(`${pods}${ground.namespace}/pods/${name}/status`, {
        method: 'PATCH',
        contentType: STATUS,
        body: { status: { containerStatuses: [status] } },
      });
    };

    const withInit = async (id: string, status: object) => {
      await withStatus(id, { waiting: { reason: 'PodInitializing' } });
      const one = { image: 'x', imageID: '', ready: false, restartCount: 2, ...status };
      await ground.client.json(`${pods}${ground.namespace}/pods/${await podOf(id)}/status`, {
        method: 'PATCH',
        contentType: STATUS,
        body: { status: { initContainerStatuses: [one] } },
      });
    };

    test('applies an edited Deployment again', async () => {
      await runner.start(ground.spec('a'));
      await happened('ready', 'a');
      const before = await deployment('a');
      const edit = { spec: { replicas: 3 }, metadata: { labels: { 'twinyard/cluster': 'other' } } };
      await ground.client.json(ground.deployment('a'), { method: 'PATCH', contentType: MERGE, body: edit });
      let now = await deployment('a');
      while (now.spec.replicas !== 1 || now.metadata.labels['twinyard/cluster'] !== 'k8s') now = await deployment('a');
      expect(now.metadata.uid).toBe(before.metadata.uid);
      expect((await handleOf('a')).phase).toBe('ready');
    });

    test('applies the template and the patches of its engine version, also again after an edit and a restart', async () => {
      const operations = [{ op: 'add', path: '/spec/template/spec/hostIPC', value: true }] as const;
      const pod = {
        template: { containers: [{ name: 'engine', env: [{ name: 'MODEL', value: '{hub_model}' }] }] },
        values: { hub_model: 'acme/tiny' },
        patches: [{ by: 'engine', owner: "engine 'x'", operations }],
      } as const;
      await runner.start(ground.spec('a', {}, { pod }));
      const { url } = await happened('ready', 'a');
      const { env } = (await (await fetch(`${url}/self`)).json()) as { env: Record<string, string> };
      expect(env.MODEL).toBe('acme/tiny');
      const spec = async () =>
        (await deployment('a')).spec as { replicas: number; template: { spec: { hostIPC?: boolean } } };
      expect((await spec()).template.spec.hostIPC).toBe(true);
      await runner.close();
      runner = await ground.open();
      const edit = { spec: { replicas: 4 } };
      await ground.client.json(ground.deployment('a'), { method: 'PATCH', contentType: MERGE, body: edit });
      while ((await spec()).replicas !== 1) await new Promise((resolve) => setTimeout(resolve, 10));
      expect((await spec()).template.spec.hostIPC).toBe(true);
    });

    test('reports a deleted Deployment, and a deleted pod, as exits', async () => {
      await runner.start(ground.spec('a'));
      await runner.start(ground.spec('b'));
      await happened('ready', 'a');
      await happened('ready', 'b');
      await ground.remove(await handleOf('a'));
      expect((await happened('exited', 'a')).exit).toMatchObject({
        reason: 'ended',
        lastLines: expect.arrayContaining(['listening']),
      });
      const name = await podOf('b');
      await ground.client.json(`${pods}${ground.namespace}/pods/${name}`, { method: 'DELETE' });
      expect((await happened('exited', 'b')).exit).toMatchObject({ reason: 'ended', detail: 'its pod was deleted' });
      expect((await deployment('b')).spec.replicas).toBe(0);
      await runner.stop('b', { graceMs: 0 });
      await expect(deployment('b')).rejects.toMatchObject({ status: 404 });
    });

    test('leaves Deployments of others alone', async () => {
      const labels = { app: 'other' };
      const spec = {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'x', image: 'x' }] } },
      };
      const body = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'theirs', labels },
        spec: { replicas: 0, ...spec },
      };
      await ground.client.json(ground.deployment('theirs'), {
        method: 'PATCH',
        contentType: 'application/apply-patch+yaml',
        query: { fieldManager: 'other' },
        body,
      });
      await expect(runner.start(ground.spec('theirs'))).rejects.toMatchObject({ code: 'RUNNER_NOT_STARTED' });
      expect(await runner.list()).toEqual([]);
      expect((await deployment('theirs')).metadata.labels).toEqual(labels);
    });

    test('keeps secrets out of the Deployment', async () => {
      const { url } = await (async () => {
        await runner.start(ground.spec('a', {}, { env: { A: '$(HOME) at {{port}}' }, secretEnv: { B: 'hush' } }));
        return happened('ready', 'a');
      })();
      const { env } = (await (await fetch(`${url}/self`)).json()) as { env: Record<string, string> };
      expect([env.A, env.B]).toEqual(['$(HOME) at 8000', 'hush']);
      const text = JSON.stringify(await deployment('a'));
      expect(text).not.toContain('hush');
      expect(text).not.toContain(Buffer.from('hush').toString('base64'));
    });

    test('reports why a pod does not start', async () => {
      await withStatus('pull', { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "x"' } });
      expect(await problemOf('pull', 'Back-off')).toBe('ImagePullBackOff: Back-off pulling image "x"');
      await withStatus('config', {
        waiting: { reason: 'CreateContainerConfigError', message: 'secret "a" not found' },
      });
      expect(await problemOf('config', 'secret')).toBe('CreateContainerConfigError: secret "a" not found');
    });

    test('reports warnings of a pod whose status has no reason, and of containers before the engine', async () => {
      const creating = { waiting: { reason: 'ContainerCreating' } };
      await withStatus('mount', creating);
      const event = async (name: string, seconds: number, message: string) => {
        const { metadata } = await ground.client.json<{ metadata: { uid: string } }>(
          `${pods}${ground.namespace}/pods/${await podOf('mount')}`,
        );
        await ground.client.json(`${pods}${ground.namespace}/events/${name}`, {
          method: 'PATCH',
          contentType: 'application/apply-patch+yaml',
          query: { fieldManager: 'kubelet' },
          body: {
            ...{ apiVersion: 'v1', kind: 'Event', metadata: { name }, type: 'Warning', reason: 'FailedMount', message },
            involvedObject: { kind: 'Pod', namespace: ground.namespace, uid: metadata.uid },
            lastTimestamp: `2030-01-01T00:00:0${seconds}Z`,
          },
        });
      };
      await event('mount.2', 2, 'MountVolume.SetUp failed for volume "models": claim "models" not found');
      await event('mount.1', 1, 'an earlier one');
      expect(await problemOf('mount', 'models')).toBe(
        'FailedMount: MountVolume.SetUp failed for volume "models": claim "models" not found',
      );
      const terminated = { exitCode: 1, reason: 'Error', message: '401 Client Error: token is not valid' };
      const waiting = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 20s' } };
      await withInit('init', { name: 'download', state: waiting, lastState: { terminated } });
      expect(await problemOf('init', '401')).toBe(
        "init container 'download': CrashLoopBackOff: back-off 20s; exit code 1 (401 Client Error: token is not valid)",
      );
    });

    test('reports why there is no node, and why there is no pod', async () => {
      ground.kubelet.unbound.add('wide');
      const gpus = { cpu: null, memoryBytes: null, gpus: 64, product: null };
      await runner.start(ground.spec('wide', {}, { resources: gpus, startupTimeoutMs: 1 }));
      expect(await problemOf('wide', 'nodes are available')).toMatch(/^Unschedulable: 0\/\d+ nodes are available/);
      const quota = `${pods}${ground.namespace}/resourcequotas/none`;
      await ground.client.json(quota, {
        method: 'PATCH',
        contentType: 'application/apply-patch+yaml',
        query: { fieldManager: 'test' },
        body: { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none' }, spec: { hard: { pods: '0' } } },
      });
      try {
        await runner.start(ground.spec('many'));
        expect(await problemOf('many', 'quota')).toMatch(/^FailedCreate: pods .* is forbidden: .*quota/);
        // Waiting for room is not counted as starting.
        expect((await handleOf('wide')).phase).toBe('starting');
        expect(await runner.stop('many', { graceMs: 0 })).toMatchObject({ reason: 'stopped' });
        expect(await runner.stop('wide', { graceMs: 0 })).toMatchObject({ reason: 'stopped' });
      } finally {
        await ground.client.json(quota, { method: 'DELETE' });
      }
    });

    test('reports a container that was killed for its memory, also after Kubernetes has started it again', async () => {
      const terminated = {
        exitCode: 137,
        reason: 'OOMKilled',
        message: 'loading\nkilled',
        finishedAt: '2030-01-01T00:00:00Z',
      };
      const waiting = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } };
      await withStatus('oom', waiting, { restartCount: 1, lastState: { terminated } });
      expect((await happened('exited', 'oom')).exit).toEqual({
        ...{ reason: 'ended', code: null, signal: 'SIGKILL', detail: 'OOMKilled' },
        ...{ at: Date.parse('2030-01-01T00:00:00Z'), lastLines: ['loading', 'killed'] },
      });
    });
  });
}
