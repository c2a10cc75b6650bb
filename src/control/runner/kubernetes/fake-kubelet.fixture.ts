import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { constants } from 'node:os';
import { KubeStatusError } from '../../../kube/errors.js';
import type { KubeClient } from '../../../kube/kube-client.js';
import type { KubeObject } from '../../../kube/kube-object.js';
import { ListWatch } from '../../../kube/watch/list-watch.js';
import { allProcesses } from '../local/process/process-table.js';
import { FOLDER_VARIABLE } from '../local/process/replica-environment.js';
import { sendSignal } from '../local/process/replica-process.js';

interface KubeletPod extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly deletionGracePeriodSeconds?: number };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly {
      readonly name: string;
      readonly command: readonly string[];
      readonly args: readonly string[];
      readonly env?: readonly EnvVariable[];
      readonly readinessProbe: { readonly httpGet: { readonly path: string } };
      readonly ports: readonly { readonly containerPort: number }[];
    }[];
  };
}

interface EnvVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

interface Container {
  readonly pod: string;
  readonly replica: string;
  readonly url: string;
  readonly folder: string;
  readonly lines: string[];
  readonly followers: Set<() => void>;
  process: ChildProcess | null;
  isOver: boolean;
  isRemoved: boolean;
  killTimer?: NodeJS.Timeout;
  killAt: number;
}

const PROBE_MS = 20;
const STATUS_PATCH = 'application/strategic-merge-patch+json';
const REPLICA = 'twinyard/replica';

/**
 * Stands in for scheduler and kubelet of one namespace: binds pods to a node that does not exist, starts their command as a
 * process on a loopback address of its own, probes it, reports its status, and ends it with grace time. A container that has
 * ended is not started again: as if its back-off were longer than the test.
 */
export class FakeKubelet {
  readonly containers = new Map<string, Container>();
  /** Pods of these replicas are bound and left alone: the test sets their status. */
  readonly ignored = new Set<string>();
  /** Pods of these replicas get no node, as where none has room. */
  readonly unbound = new Set<string>();
  readonly #client: KubeClient;
  readonly #path: string;
  readonly #pods: ListWatch<KubeletPod>;
  readonly #seen = new Set<string>();
  readonly #removed = new Set<string>();
  readonly #base = `127.${100 + Math.floor(Math.random() * 100)}.${Math.floor(Math.random() * 250)}`;
  /** Kubernetes removes pods of a node that has been missing for long. */
  readonly #node = `no-node-${randomUUID()}`;
  #addresses = 0;
  #isClosed = false;

  /**
   * @param isBinding false for pods that have to live for more than 40 seconds: then Kubernetes removes those of a missing node
   */
  constructor(
    client: KubeClient,
    namespace: string,
    private readonly isBinding = true,
  ) {
    this.#client = client;
    this.#path = `/api/v1/namespaces/${namespace}`;
    this.#pods = new ListWatch({ client, path: `${this.#path}/pods`, changed: () => this.#look() });
  }

  get synced(): Promise<void> {
    return this.#pods.synced;
  }

  /** The container of a replica that was started last. */
  containerOf(replica: string): Container | undefined {
    return [...this.containers.values()].filter((one) => one.replica === replica).at(-1);
  }

  /** `pods/NAME/log` as a kubelet serves it. */
  serveLog(pod: string, query: URLSearchParams, response: ServerResponse): void {
    const container = [...this.containers.values()].find((one) => one.pod === pod);
    if (container === undefined) {
      response.writeHead(404).end();
      return;
    }
    const { followers, lines } = container;
    let at = Math.max(0, lines.length - Number(query.get('tailLines') ?? lines.length));
    const send = () => {
      for (; at < lines.length; at++) response.write(`${lines[at]}\n`);
      if (!container.isOver && query.get('follow') === 'true') return;
      followers.delete(send);
      response.end();
    };
    response.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders();
    followers.add(send);
    response.on('close', () => followers.delete(send));
    send();
  }

  async processes(): Promise<number[]> {
    const folders = new Set([...this.containers.values()].map(({ folder }) => folder));
    const all = await allProcesses();
    return all.filter((one) => one.folders.some((folder) => folders.has(folder))).map(({ pid }) => pid);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pods.close();
    for (const { killTimer } of this.containers.values()) clearTimeout(killTimer);
    for (let left = await this.processes(); left.length > 0; left = await this.processes()) {
      for (const pid of left) sendSignal(pid, 'SIGKILL');
    }
  }

  #look(): void {
    if (this.#isClosed) return;
    if (!this.isBinding) this.#killDeleted();
    for (const pod of this.#pods.cache.values()) {
      const { deletionTimestamp, labels = {}, name, uid = '' } = pod.metadata;
      if (labels[REPLICA] === undefined) continue;
      if (!this.#seen.has(uid)) {
        this.#seen.add(uid);
        if (deletionTimestamp === undefined) void this.#begin(pod).catch(ignoreMissing);
      }
      if (deletionTimestamp === undefined) continue;
      const container = this.containers.get(uid);
      if (container !== undefined) this.#terminate(pod, container);
      else if (pod.spec.nodeName !== undefined && !this.#removed.has(uid)) {
        this.#removed.add(uid);
        void this.#remove(name).catch(ignoreMissing);
      }
    }
  }

  /** Pods without a node are deleted without grace time. */
  #killDeleted(): void {
    const present = new Set([...this.#pods.cache.values()].map(({ metadata }) => metadata.uid));
    for (const [uid, { process }] of this.containers) if (!present.has(uid)) process?.kill('SIGKILL');
  }

  async #begin(pod: KubeletPod): Promise<void> {
    const { labels = {}, name, uid = '' } = pod.metadata;
    const replica = labels[REPLICA]!;
    if (this.unbound.has(replica)) {
      const message = '0/0 nodes are available: the fixture has none.';
      const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
      return this.#report(name, { conditions: [condition] });
    }
    const target = { apiVersion: 'v1', kind: 'Node', name: this.#node };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
    if (this.isBinding)
      await this.#client.json(`${this.#path}/pods/${name}/binding`, { method: 'POST', body: binding });
    if (this.ignored.has(replica)) return;
    const [engine] = pod.spec.containers;
    const host = `${this.#base}.${++this.#addresses}`;
    const env: Record<string, string> = {};
    for (const variable of engine!.env ?? []) env[variable.name] = await this.#valueOf(variable);
    const container: Container = {
      ...{ pod: name, replica, url: `http://${host}:${engine!.ports[0]!.containerPort}`, folder: `/pods/${uid}` },
      ...{
        lines: [],
        followers: new Set(),
        process: null,
        isOver: false,
        isRemoved: false,
        killAt: Number.POSITIVE_INFINITY,
      },
    };
    if (this.#isClosed) return;
    this.containers.set(uid, container);
    const child = spawn(expanded(engine!.command[0]!), engine!.args.map(expanded), {
      env: { PATH: process.env.PATH, ...env, FAKE_HOST: host, [FOLDER_VARIABLE]: container.folder },
      detached: true,
    });
    container.process = child;
    this.#readOutput(container, child);
    const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      child.on('exit', (code, signal) => resolve([code, signal]));
    });
    const running = { running: { startedAt: new Date().toISOString() } };
    const status = { phase: 'Running', podIP: host, podIPs: [{ ip: host }] };
    await this.#report(name, { ...status, containerStatuses: [statusOf(engine!.name, running)] }).catch(ignoreMissing);
    void this.#probe(name, `${container.url}${engine!.readinessProbe.httpGet.path}`, container);
    await this.#ended(container, engine!.name, uid, await ended);
  }

  #readOutput(container: Container, { stderr, stdout }: ChildProcess): void {
    for (const stream of [stdout!, stderr!]) {
      let rest = '';
      stream.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop()!;
        container.lines.push(...lines);
        for (const send of [...container.followers]) send();
      });
    }
  }

  async #ended(
    container: Container,
    name: string,
    uid: string,
    [code, signal]: [number | null, NodeJS.Signals | null],
  ) {
    clearTimeout(container.killTimer);
    // A container ends with all its processes: the pipes of the log are closed only then.
    for (let left = await this.#membersOf(container); left.length > 0; left = await this.#membersOf(container)) {
      for (const pid of left) sendSignal(pid, 'SIGKILL');
    }
    for (const stream of [container.process!.stdout!, container.process!.stderr!]) {
      if (!stream.closed) await new Promise((resolve) => stream.once('close', resolve));
    }
    container.isOver = true;
    for (const send of [...container.followers]) send();
    if (this.#isClosed) return;
    const exitCode = signal === null ? code! : 128 + constants.signals[signal];
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    const terminated = { exitCode, reason, finishedAt: new Date().toISOString() };
    const conditions = [{ type: 'Ready', status: 'False' }];
    await this.#report(container.pod, { conditions, containerStatuses: [statusOf(name, { terminated })] }).catch(
      ignoreMissing,
    );
    container.process = null;
    const isDeleted = [...this.#pods.cache.values()].some(
      ({ metadata }) => metadata.uid === uid && metadata.deletionTimestamp !== undefined,
    );
    if (isDeleted) await this.#removeOnce(container);
  }

  async #membersOf({ folder }: Container): Promise<number[]> {
    return (await allProcesses()).filter(({ folders }) => folders.includes(folder)).map(({ pid }) => pid);
  }

  async #probe(name: string, url: string, container: Container): Promise<void> {
    // A container that is being ended is not probed: whether it still responds is a matter of chance.
    const isLive = () => container.killAt === Number.POSITIVE_INFINITY && container.process?.exitCode === null;
    for (let isReady = false; isLive() && !container.isOver && !this.#isClosed; ) {
      const isWell = await fetch(url).then(
        async (response) => {
          await response.text();
          return response.ok;
        },
        // It does not listen yet, or has ended, which is reported next.
        () => isReady,
      );
      if (isWell !== isReady && isLive()) {
        isReady = isWell;
        const lastTransitionTime = new Date().toISOString();
        const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime }];
        await this.#report(name, { conditions }).catch(ignoreMissing);
      }
      await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
    }
  }

  async #removeOnce(container: Container): Promise<void> {
    if (container.isRemoved) return;
    container.isRemoved = true;
    await this.#remove(container.pod).catch(ignoreMissing);
  }

  #terminate({ metadata }: KubeletPod, container: Container): void {
    if (container.process === null) {
      if (container.isOver) void this.#removeOnce(container);
      return;
    }
    const killAt = Date.now() + 1000 * (metadata.deletionGracePeriodSeconds ?? 0);
    if (killAt >= container.killAt) return;
    if (container.killAt === Number.POSITIVE_INFINITY) void this.#signal(container);
    container.killAt = killAt;
    clearTimeout(container.killTimer);
    container.killTimer = setTimeout(() => container.process?.kill('SIGKILL'), killAt - Date.now());
  }

  /** Not before the engine has begun: whether it handles the signal by then is a matter of chance. */
  async #signal(container: Container): Promise<void> {
    const hasBegun = () => container.isOver || container.process === null || container.lines.includes('listening');
    if (!hasBegun()) {
      await new Promise<void>((resolve) => {
        const look = () => {
          if (!hasBegun()) return;
          container.followers.delete(look);
          resolve();
        };
        container.followers.add(look);
      });
    }
    container.process?.kill('SIGTERM');
  }

  async #valueOf({ value = '', valueFrom }: EnvVariable): Promise<string> {
    if (valueFrom === undefined) return expanded(value);
    const { key, name } = valueFrom.secretKeyRef;
    const { data } = await this.#client.json<{ data: Record<string, string> }>(`${this.#path}/secrets/${name}`);
    return Buffer.from(data[key]!, 'base64').toString('utf8');
  }

  async #report(name: string, status: object): Promise<void> {
    if (this.#isClosed) return;
    const call = { method: 'PATCH', contentType: STATUS_PATCH, body: { status } } as const;
    await this.#client.json(`${this.#path}/pods/${name}/status`, call);
  }

  async #remove(name: string): Promise<void> {
    await this.#client.json(`${this.#path}/pods/${name}`, { method: 'DELETE', body: { gracePeriodSeconds: 0 } });
  }
}

const statusOf = (name: string, state: object) => ({
  ...{ name, image: 'fake', imageID: 'fake', ready: false, restartCount: 0, state, lastState: {} },
});

/** As kubelets do: two dollars are one. No variable is referenced. */
const expanded = (text: string) => text.replaceAll('$$', '$');

/**
 * The pod was deleted meanwhile, or everything is over, or the recording has ended: how many reports a kubelet makes by then is a
 * matter of chance.
 */
function ignoreMissing(error: unknown): void {
  if (error instanceof KubeStatusError && [404, 409, 501].includes(error.status)) return;
  if (/cannot be reached|destroyed|aborted/.test(String(error))) return;
  throw error;
}
