import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readKubeconfig } from '../../src/kube/access/kubeconfig.js';
import { KubeStatusError } from '../../src/kube/errors.js';
import { KubeClient } from '../../src/kube/kube-client.js';
import type { Pod } from '../../src/kube/kube-object.js';
import { ListWatch } from '../../src/kube/watch/list-watch.js';
import { afterwards } from './gateway-fixture.js';

export const LAB_KUBECONFIG = process.env.TWINYARD_TEST_KUBECONFIG ?? '';

const APPLY = 'application/apply-patch+yaml';
const PACE_MS = 50;
let count = 0;

/** A namespace of a real cluster, and nodes whose pods kwok gives loopback addresses. All is deleted after the test. */
export class KubeLab {
  readonly namespace = `twinyard-drill-${process.pid}-${++count}`;
  readonly client = new KubeClient(readKubeconfig(LAB_KUBECONFIG, null));
  readonly core = `/api/v1/namespaces/${this.namespace}`;
  readonly apps = `/apis/apps/v1/namespaces/${this.namespace}`;
  /** Pods with this selector run on the nodes of this lab, and no others do. */
  readonly nodeSelector = { 'twinyard-drill': this.namespace };

  static async start(): Promise<KubeLab> {
    const lab = new KubeLab();
    await lab.apply('v1', 'Namespace', `/api/v1/namespaces/${lab.namespace}`, {});
    afterwards(async () => {
      await lab.client.json(`/api/v1/namespaces/${lab.namespace}`, { method: 'DELETE' });
      await lab.client.close();
    });
    return lab;
  }

  /** A node with GPUs and the addresses 127.NET.0.1 to 127.NET.0.254. */
  async addNode(net: number, gpus = 8): Promise<void> {
    const path = `/api/v1/nodes/${this.namespace}-${net}`;
    const podCIDR = `127.${net}.0.0/24`;
    const allocatable = { cpu: '64', memory: '512Gi', pods: '110', 'nvidia.com/gpu': String(gpus) };
    await this.apply('v1', 'Node', path, { spec: { podCIDR, podCIDRs: [podCIDR] } }, this.nodeSelector);
    const body = { status: { capacity: allocatable, allocatable } };
    await this.client.json(`${path}/status`, { method: 'PATCH', contentType: 'application/merge-patch+json', body });
    afterwards(() => this.client.json(path, { method: 'DELETE' }));
  }

  apply(apiVersion: string, kind: string, path: string, body: object, labels: object = {}): Promise<unknown> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return this.client.json(path, {
      ...{ method: 'PATCH', contentType: APPLY, query: { fieldManager: 'drill', force: true } },
      body: { apiVersion, kind, metadata: { name, labels }, ...body },
    });
  }

  /** A Deployment of engines, as its owner would have made it. */
  deploy(name: string, replicas: number, change: { version?: string; finalizers?: readonly string[] } = {}) {
    const labels = { app: name };
    const container = { name: 'engine', image: 'engine', ports: [{ name: 'http', containerPort: ENGINE_PORT }] };
    const env = [{ name: 'VERSION', value: change.version ?? '1' }];
    const spec = { nodeSelector: this.nodeSelector, containers: [{ ...container, env }] };
    const template = { metadata: { labels, finalizers: change.finalizers ?? [] }, spec };
    const body = { spec: { replicas, selector: { matchLabels: labels }, template } };
    return this.apply('apps/v1', 'Deployment', `${this.apps}/deployments/${name}`, body);
  }

  async pods(): Promise<Pod[]> {
    return (await this.client.json<{ items: Pod[] }>(`${this.core}/pods`)).items;
  }

  async deployments(): Promise<{ metadata: { name: string } }[]> {
    return (await this.client.json<{ items: { metadata: { name: string } }[] }>(`${this.apps}/deployments`)).items;
  }
}

export const ENGINE_PORT = 8000;

/** Engines for the pods of a namespace: one on the address of each pod, from when it has one until it is deleted. */
export class PodEngines {
  readonly #servers = new Map<string, Server>();
  readonly #ending = new Set<string>();
  readonly #watch: ListWatch<Pod>;
  /** Requests by pod. */
  readonly served = new Map<string, number>();

  constructor(private readonly lab: KubeLab) {
    const { client, core } = lab;
    this.#watch = new ListWatch({ client, path: `${core}/pods`, changed: () => this.#look() });
    afterwards(async () => {
      await this.#watch.close();
      for (const server of this.#servers.values()) {
        server.closeAllConnections();
        server.close();
      }
    });
  }

  get synced(): Promise<void> {
    return this.#watch.synced;
  }

  #look(): void {
    for (const { metadata, status } of this.#watch.cache.values()) {
      const { deletionTimestamp, name } = metadata;
      const { finalizers = [] } = metadata as { finalizers?: readonly string[] };
      const ip = status?.podIP ?? '';
      const isGoing = deletionTimestamp !== undefined && finalizers.length === 0;
      if (isGoing && !this.#ending.has(name)) void this.#end(name);
      else if (ip.startsWith('127.') && !isGoing && !this.#servers.has(name)) this.#start(name, ip);
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      if (!isGoing && this.#servers.has(name) && ready?.status === 'False') void this.#reportReady(name);
    }
  }

  /** The controllers set it to false while a node does not report; kwok does not set it again, as kubelets do. */
  async #reportReady(name: string): Promise<void> {
    const body = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    const call = { method: 'PATCH', contentType: 'application/strategic-merge-patch+json', body } as const;
    await this.lab.client.json(`${this.lab.core}/pods/${name}/status`, call).catch(() => {});
  }

  /** As on SIGTERM: new requests are refused, those under way finished. Then the pod goes, sooner than kwok would end it. */
  async #end(name: string): Promise<void> {
    this.#ending.add(name);
    const server = this.#servers.get(name);
    if (server !== undefined) {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      await closed;
    }
    const { client, core } = this.lab;
    const call = { method: 'DELETE', body: { gracePeriodSeconds: 0 } } as const;
    await client.json(`${core}/pods/${name}`, call).catch(() => {});
  }

  #start(pod: string, ip: string): void {
    const server = createServer((request, response) => {
      request.resume().on('end', () => this.#respond(pod, request.url ?? '', response));
    });
    // kwok, started again, gives the address of a pod to another one too: the engine that is there serves both.
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
    });
    this.#servers.set(pod, server.listen(ENGINE_PORT, ip));
  }

  #respond(pod: string, url: string, response: ServerResponse): void {
    const json = (body: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (url === '/v1/models') return void json({ data: [{ id: 'm' }] });
    if (url === '/metrics') return void response.end('vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n');
    if (url === '/health') return void json({});
    this.served.set(pod, (this.served.get(pod) ?? 0) + 1);
    setTimeout(() => json({ choices: [], usage: { completion_tokens: 1 } }), SERVICE_MS);
  }
}

const SERVICE_MS = 30;

/** Clients that send one request after another to a gateway. */
export class LabLoad {
  /** Responses by status; connections that failed by their error. */
  readonly ends = new Map<string, number>();
  readonly #clients: Promise<void>[];
  #isOver = false;

  constructor(url: string, atOnce = 8) {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] });
    this.#clients = Array.from({ length: atOnce }, async () => {
      while (!this.#isOver) {
        const end = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body }).then(
          async (response) => {
            const text = await response.text();
            return response.status === 200 ? '200' : `${response.status} ${text.slice(0, 200)}`;
          },
          (error: Error) => String(error.cause ?? error),
        );
        this.ends.set(end, (this.ends.get(end) ?? 0) + 1);
      }
    });
    afterwards(() => this.end());
  }

  get complete(): number {
    return this.ends.get('200') ?? 0;
  }

  async more(responses: number): Promise<void> {
    const wanted = this.complete + responses;
    await eventually(() => this.complete >= wanted);
  }

  /** Requests that did not get a response with status 200. */
  get lost(): [string, number][] {
    return [...this.ends].filter(([end]) => end !== '200');
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }
}

export async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(PACE_MS);
}

/** Whether an object is gone. */
export async function isMissing(response: Promise<unknown>): Promise<boolean> {
  return response.then(
    () => false,
    (error: unknown) => error instanceof KubeStatusError && error.status === 404,
  );
}

/** A process of the lab, by the file with its process id beside the kubeconfig; null where there is none. */
export class LabProcess {
  #command: string[] = [];
  #env: NodeJS.ProcessEnv = {};

  private constructor(
    private readonly file: string,
    private readonly folder: string,
  ) {}

  static find(name: string): LabProcess | null {
    const folder = dirname(LAB_KUBECONFIG);
    const file = join(folder, `${name}.pid`);
    return existsSync(file) ? new LabProcess(file, folder) : null;
  }

  async stop(): Promise<void> {
    const pid = Number(readFileSync(this.file, 'utf8'));
    const parts = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0').slice(0, -1);
    this.#command = parts('cmdline');
    this.#env = Object.fromEntries(parts('environ').map((one) => one.split(/=(.*)/s).slice(0, 2)));
    process.kill(pid, 'SIGKILL');
    await eventually(
      () => !existsSync(`/proc/${pid}`) || /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')),
    );
  }

  /** Detached, as it was: it outlives the test. */
  start(): void {
    const [program, ...args] = this.#command;
    const log = openSync(this.file.replace(/pid$/, 'log'), 'a');
    const child: ChildProcess = spawn(program!, args, {
      ...{ cwd: this.folder, env: this.#env, detached: true, stdio: ['ignore', log, log] },
    });
    writeFileSync(this.file, `${child.pid}\n`);
    child.unref();
  }
}
