import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { KubeAccess } from './access/kube-access.js';

// biome-ignore lint/suspicious/noExplicitAny: objects of the API as they are sent
type Any = any;

interface Change {
  readonly version: number;
  readonly kind: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Any;
}

/**
 * The part of an API server that the Kubernetes runner and a kubelet use, in memory, with the controller of Deployments:
 * apply, list, watch, binding, deletion with grace time and UID, owned Secrets. Pods run nowhere until a kubelet binds them.
 */
export class MemoryApiServer {
  readonly #objects = new Map<string, Any>();
  readonly #changes: Change[] = [];
  readonly #watches = new Set<() => void>();
  readonly #server: Server;
  #count = 100;
  /** Serves `pods/NAME/log`, as the API server does by asking the kubelet. */
  podLog: (pod: string, query: URLSearchParams, response: ServerResponse) => void = (_, __, response) => response.end();

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<MemoryApiServer> {
    const server = new MemoryApiServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get access(): KubeAccess {
    const { port } = this.#server.address() as AddressInfo;
    return {
      ...{ server: `http://127.0.0.1:${port}`, ca: null, skipsTlsVerify: false, tlsServerName: null },
      ...{ namespace: 'default', credentials: { read: () => Promise.resolve({ authorization: null }) } },
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://kube');
    let text = '';
    for await (const chunk of request) text += chunk;
    const body = text === '' ? {} : JSON.parse(text);
    const [kind = '', name = '', part = ''] = pathname.replace(/^.*\/namespaces\/[^/]+\/|^\/api\/v1\//, '').split('/');
    if (part === 'log') return this.podLog(name, searchParams, response);
    if (searchParams.get('watch') === 'true') return this.#watch(kind, searchParams, response);
    const isApply = request.headers['content-type']?.startsWith('application/apply-patch') ?? false;
    const [status, value] = this.#call(
      request.method ?? 'GET',
      kind,
      name,
      part,
      body,
      isApply,
      selectorOf(searchParams),
    );
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  }

  #call(
    method: string,
    kind: string,
    name: string,
    part: string,
    body: Any,
    isApply: boolean,
    isSelected: (object: Any) => boolean,
  ): [number, object] {
    const key = `${kind}/${name}`;
    const present = this.#objects.get(key);
    if (method === 'GET' && name === '') {
      const items = [...this.#objects]
        .filter(([one]) => one.startsWith(`${kind}/`))
        .map(([, object]) => object)
        .filter(isSelected);
      return [200, { metadata: { resourceVersion: String(this.#count) }, items }];
    }
    if (method === 'PATCH' && part === '' && isApply) return this.#apply(kind, name, body);
    if (present === undefined) return status(404, 'NotFound', `${kind} "${name}" not found`);
    if (method === 'PATCH' && part === '') return this.#apply(kind, name, mergePatched(present, body));
    if (method === 'POST' && part === 'binding') return [201, this.#bind(key, present, body)];
    if (method === 'GET') return [200, present];
    if (method === 'PATCH') return [200, this.#put(key, { ...present, status: merged(present.status, body.status) })];
    const uid = body.preconditions?.uid;
    if (uid !== undefined && uid !== present.metadata.uid) return status(409, 'Conflict', 'the UID is another one');
    this.#delete(key, body.gracePeriodSeconds);
    return [200, { kind: 'Status', status: 'Success' }];
  }

  #bind(key: string, pod: Any, { target }: Any): object {
    const conditions = [{ type: 'PodScheduled', status: 'True', lastTransitionTime: now() }];
    return this.#put(key, {
      ...pod,
      spec: { ...pod.spec, nodeName: target.name },
      status: merged(pod.status, { conditions }),
    });
  }

  #apply(kind: string, name: string, { metadata, ...rest }: Any): [number, object] {
    const key = `${kind}/${name}`;
    const present = this.#objects.get(key);
    if (metadata.uid !== undefined && metadata.uid !== present?.metadata.uid) {
      return status(409, 'Conflict', 'uid mismatch');
    }
    if (present === undefined) {
      const made = { ...rest, metadata: { ...metadata, uid: `uid-${++this.#count}`, generation: 1 } };
      this.#put(key, made);
    } else {
      const isSame = isDeepStrictEqual(present.spec, rest.spec);
      const generation = present.metadata.generation + (isSame ? 0 : 1);
      this.#put(key, { ...present, ...rest, metadata: { ...present.metadata, ...metadata, generation } });
    }
    if (kind === 'deployments') setImmediate(() => this.#control(name));
    return [present === undefined ? 201 : 200, this.#objects.get(key)];
  }

  #delete(key: string, grace: number | undefined): void {
    const present = this.#objects.get(key);
    if (present === undefined) return;
    if (key.startsWith('pods/') && present.spec.nodeName !== undefined && grace !== 0) {
      const seconds = grace ?? present.spec.terminationGracePeriodSeconds ?? 30;
      const { deletionGracePeriodSeconds: before = Number.POSITIVE_INFINITY } = present.metadata;
      if (seconds >= before) return;
      const times = { deletionTimestamp: now(), deletionGracePeriodSeconds: seconds };
      this.#put(key, { ...present, metadata: { ...present.metadata, ...times } });
      return;
    }
    this.#objects.delete(key);
    this.#changed(key, 'DELETED', present);
    const { ownerReferences, uid } = present.metadata;
    for (const [other, { metadata }] of [...this.#objects]) {
      if (metadata.ownerReferences?.some((owner: Any) => owner.uid === uid)) this.#delete(other, undefined);
    }
    const owner = ownerReferences?.[0];
    if (key.startsWith('pods/') && owner !== undefined) setImmediate(() => this.#control(owner.name));
  }

  /** What the controllers of Deployments and ReplicaSets do. */
  #control(name: string): void {
    const key = `deployments/${name}`;
    const deployment = this.#objects.get(key);
    if (deployment === undefined) return;
    const { generation, uid } = deployment.metadata;
    const { replicas, template } = deployment.spec;
    const pods = [...this.#objects].filter(([, { metadata }]) => metadata.ownerReferences?.[0]?.uid === uid);
    const own = pods.filter(([one]) => one.startsWith('pods/'));
    const live = own.filter(([, pod]) => pod.metadata.deletionTimestamp === undefined);
    const isOld = ([, pod]: [string, Any]) => pod.metadata.annotations.template !== JSON.stringify(template);
    const surplus = live.filter((one) => isOld(one) || replicas === 0);
    for (const [one] of surplus) this.#delete(one, undefined);
    const isFull = live.length - surplus.length >= replicas;
    const quota = [...this.#objects.keys()].find((one) => one.startsWith('resourcequotas/'));
    const message = `pods "${name}" is forbidden: exceeded quota: ${quota}`;
    const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message };
    if (!isFull && quota === undefined) this.#makePod(name, uid, template);
    const observed = {
      observedGeneration: generation,
      replicas: quota === undefined ? replicas : 0,
      conditions: !isFull && quota !== undefined ? [failure] : [],
    };
    const latest = this.#objects.get(key);
    if (!isDeepStrictEqual(latest.status, observed)) this.#put(key, { ...latest, status: observed });
  }

  #makePod(owner: string, uid: string, template: Any): void {
    const name = `${owner}-${(++this.#count).toString(36)}`;
    const metadata = {
      ...{ name, uid: `uid-${this.#count}`, labels: template.metadata.labels },
      annotations: { template: JSON.stringify(template) },
      ownerReferences: [{ kind: 'Deployment', name: owner, uid }],
    };
    this.#put(`pods/${name}`, { metadata, spec: template.spec, status: { phase: 'Pending', conditions: [] } });
  }

  #put(key: string, object: Any): Any {
    const type = this.#objects.has(key) ? 'MODIFIED' : 'ADDED';
    const metadata = { ...object.metadata, namespace: 'default', resourceVersion: String(++this.#count) };
    const stored = { ...object, metadata };
    this.#objects.set(key, stored);
    this.#changed(key, type, stored);
    return stored;
  }

  #changed(key: string, type: Change['type'], object: Any): void {
    const version = type === 'DELETED' ? ++this.#count : this.#count;
    const metadata = { ...object.metadata, resourceVersion: String(version) };
    this.#changes.push({ version, kind: key.split('/')[0]!, type, object: { ...object, metadata } });
    for (const send of [...this.#watches]) send();
  }

  #watch(kind: string, query: URLSearchParams, response: ServerResponse): void {
    const isSelected = selectorOf(query);
    let at = this.#changes.findIndex(({ version }) => version > Number(query.get('resourceVersion')));
    if (at < 0) at = this.#changes.length;
    const send = () => {
      for (; at < this.#changes.length; at++) {
        const { kind: changed, object, type } = this.#changes[at]!;
        if (changed !== kind) continue;
        // An object that is no longer selected is reported as deleted.
        response.write(`${JSON.stringify({ type: isSelected(object) ? type : 'DELETED', object })}\n`);
      }
    };
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    this.#watches.add(send);
    response.on('close', () => this.#watches.delete(send));
    send();
  }
}

const now = () => new Date().toISOString();

const status = (code: number, reason: string, message: string): [number, object] => [
  code,
  { kind: 'Status', status: 'Failure', code, reason, message },
];

function selectorOf(query: URLSearchParams): (object: Any) => boolean {
  const wanted = (query.get('labelSelector') ?? '').split(',').filter(Boolean);
  return ({ metadata }) =>
    wanted.every((one) => metadata.labels?.[one.slice(0, one.indexOf('='))] === one.slice(one.indexOf('=') + 1));
}

function mergePatched(before: Any, change: Any): Any {
  if (typeof change !== 'object' || change === null || Array.isArray(change)) return change;
  const keys = Object.keys(change).map((key) => [key, mergePatched(before?.[key], change[key])]);
  return { ...before, ...Object.fromEntries(keys) };
}

/** As a strategic merge: conditions by type, other fields replaced. */
function merged(before: Any = {}, change: Any = {}): Any {
  const types = new Set((change.conditions ?? []).map(({ type }: Any) => type));
  const kept = (before.conditions ?? []).filter(({ type }: Any) => !types.has(type));
  return { ...before, ...change, conditions: [...kept, ...(change.conditions ?? [])] };
}
