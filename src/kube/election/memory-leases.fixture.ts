import { KubeStatusError } from '../errors.js';
import type { KubeCall } from '../kube-client.js';
import type { LeaseClient } from './lease-calls.js';
import type { LeaseObject } from './lease-object.js';

/** One namespace of Leases and events without a network: each call takes as long as a test says. */
export class MemoryLeases {
  readonly leases = new Map<string, LeaseObject>();
  readonly events: string[] = [];
  #version = 0;

  /** The API as one process reaches it. */
  client(): LeaseClient & { isAway: boolean; hold: Promise<void> | null } {
    const all = this;
    return {
      isAway: false,
      hold: null,
      async json<T>(path: string, { body, method = 'GET', signal }: KubeCall = {}): Promise<T> {
        if (this.isAway) throw new Error('connect ECONNREFUSED');
        if (this.hold !== null) await this.hold;
        signal?.throwIfAborted();
        await null;
        return all.#call(path, method, body as LeaseObject) as T;
      },
    };
  }

  #call(path: string, method: string, body: LeaseObject): unknown {
    if (path.endsWith('/events')) {
      this.events.push((body as unknown as { message: string }).message);
      return body;
    }
    const name = method === 'POST' ? body.metadata.name : path.slice(path.lastIndexOf('/') + 1);
    const present = this.leases.get(name);
    if (method === 'POST' && present !== undefined) throw new KubeStatusError(409, 'AlreadyExists', `${name} exists`);
    if (method !== 'POST' && present === undefined) throw new KubeStatusError(404, 'NotFound', `${name} not found`);
    if (method === 'GET') return present;
    if (method === 'PUT' && body.metadata.resourceVersion !== present!.metadata.resourceVersion) {
      throw new KubeStatusError(409, 'Conflict', 'the object has been modified');
    }
    return this.put({ ...body, metadata: { ...body.metadata, uid: present?.metadata.uid ?? `uid-${name}` } });
  }

  /** Changes it as another client does. */
  put(lease: LeaseObject): LeaseObject {
    const stored = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#version) } };
    this.leases.set(lease.metadata.name, stored);
    return stored;
  }
}
