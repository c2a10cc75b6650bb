import { ENGINE_CONTAINER } from '../../../engines/pod/default-pod.js';
import { KubeStatusError } from '../../../kube/errors.js';
import type { KubeClient } from '../../../kube/kube-client.js';
import { collectionPath, DEPLOYMENTS, type KubeKind, PODS, SECRETS } from '../../../kube/kube-kind.js';
import type { KubeList } from '../../../kube/kube-object.js';
import type { Deployment } from './manifests/deployment.js';
import { MANAGER } from './manifests/replica-labels.js';

const APPLY = 'application/apply-patch+yaml';

export interface PodLogQuery {
  readonly tailLines: number | null;
  /** RFC 3339. */
  readonly sinceTime?: string | null;
  readonly follow: boolean;
  readonly previous: boolean;
}

/**
 * The calls that the runner makes to change a namespace; `runner-rules.ts` has the rights that they need. An object that is not there
 * is no error.
 */
export class ClusterCalls {
  constructor(
    private readonly client: KubeClient,
    readonly namespace: string,
    /** Throws when this process must not change the cluster. */
    private readonly guard: () => void = () => {},
  ) {}

  pathOf(kind: KubeKind): string {
    return collectionPath(kind, this.namespace);
  }

  applyDeployment(name: string, manifest: object): Promise<Deployment> {
    return this.#apply(`${this.pathOf(DEPLOYMENTS)}/${name}`, manifest);
  }

  async applySecret(name: string, manifest: object): Promise<void> {
    await this.#apply(`${this.pathOf(SECRETS)}/${name}`, manifest);
  }

  getDeployment(name: string): Promise<Deployment | null> {
    return orMissing(this.client.json<Deployment>(`${this.pathOf(DEPLOYMENTS)}/${name}`));
  }

  async hasDeployments(labelSelector: string): Promise<boolean> {
    const query = { labelSelector, limit: 1 };
    const list = await this.client.json<KubeList<Deployment>>(this.pathOf(DEPLOYMENTS), { query });
    return (list.items?.length ?? 0) > 0;
  }

  /** Deletes it, and what it owns after it. An object that has taken its name since is left alone. */
  async deleteDeployment(name: string, uid: string): Promise<void> {
    await this.#delete(`${this.pathOf(DEPLOYMENTS)}/${name}`, {
      propagationPolicy: 'Background',
      preconditions: { uid },
    });
  }

  /** Ends a pod; a second call can only shorten its grace time. */
  async deletePod(name: string, uid: string, graceMs: number): Promise<void> {
    // Zero would remove the object and not wait for its processes.
    const gracePeriodSeconds = Math.max(1, Math.ceil(graceMs / 1000));
    await this.#delete(`${this.pathOf(PODS)}/${name}`, { gracePeriodSeconds, preconditions: { uid } });
  }

  podLog(pod: string, query: PodLogQuery, signal?: AbortSignal): Promise<AsyncIterable<Buffer>> {
    return this.client.bytes(`${this.pathOf(PODS)}/${pod}/log`, {
      query: { container: ENGINE_CONTAINER, ...query },
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async #apply<T>(path: string, body: object): Promise<T> {
    this.guard();
    const query = { fieldManager: MANAGER, force: true };
    return this.client.json<T>(path, { method: 'PATCH', contentType: APPLY, query, body });
  }

  async #delete(path: string, options: object): Promise<void> {
    this.guard();
    await orMissing(this.client.json(path, { method: 'DELETE', body: options })).catch((error: unknown) => {
      // The UID is another one.
      if (!(error instanceof KubeStatusError && error.status === 409)) throw error;
    });
  }
}

async function orMissing<T>(response: Promise<T>): Promise<T | null> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof KubeStatusError && error.status === 404) return null;
    throw error;
  }
}
