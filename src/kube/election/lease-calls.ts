import { KubeStatusError } from '../errors.js';
import type { KubeClient } from '../kube-client.js';
import { collectionPath, KUBE_EVENTS, LEASES } from '../kube-kind.js';
import { type RoleRule, rulesFor } from '../rights.js';
import type { LeaseName } from './lease-name.js';
import type { LeaseObject, LeaseSpec } from './lease-object.js';

const API_VERSION = `${LEASES.group}/${LEASES.version}`;
/** A call that takes longer is given up: two more fit before the holder steps down. */
const CALL_MS = 3000;

export type LeaseClient = Pick<KubeClient, 'json'>;

/** Every call that an election makes; `electionRules` names the rights that they need. */
export class LeaseCalls {
  readonly #client: LeaseClient;
  readonly #lease: LeaseName;
  readonly #all: string;
  readonly #own: string;

  constructor(client: LeaseClient, lease: LeaseName) {
    this.#client = client;
    this.#lease = lease;
    this.#all = collectionPath(LEASES, lease.namespace);
    this.#own = `${this.#all}/${lease.name}`;
  }

  /** Null: there is none. */
  async get(): Promise<LeaseObject | null> {
    try {
      return await this.#client.json<LeaseObject>(this.#own, { signal: AbortSignal.timeout(CALL_MS) });
    } catch (error) {
      if (error instanceof KubeStatusError && error.status === 404) return null;
      throw error;
    }
  }

  /** Fails with 409 when there is one by now. */
  create(spec: LeaseSpec): Promise<LeaseObject> {
    const { name, namespace } = this.#lease;
    const body = { apiVersion: API_VERSION, kind: 'Lease', metadata: { name, namespace }, spec };
    return this.#client.json(this.#all, { method: 'POST', body, signal: AbortSignal.timeout(CALL_MS) });
  }

  /** Fails with 409 when it has been changed since `before` was read: its resourceVersion goes along. */
  update(before: LeaseObject, spec: LeaseSpec): Promise<LeaseObject> {
    const body = { ...before, apiVersion: API_VERSION, kind: 'Lease', spec };
    return this.#client.json(this.#own, { method: 'PUT', body, signal: AbortSignal.timeout(CALL_MS) });
  }

  /** Shown by `kubectl describe lease`. */
  async report(lease: LeaseObject, identity: string, what: string, wallMs: number): Promise<void> {
    const { name, namespace } = this.#lease;
    const { resourceVersion, uid } = lease.metadata;
    const time = new Date(wallMs).toISOString();
    const body = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { generateName: `${name}.`, namespace },
      involvedObject: { apiVersion: API_VERSION, kind: 'Lease', name, namespace, uid, resourceVersion },
      ...{ type: 'Normal', reason: 'LeaderElection', message: `${identity} ${what}`, count: 1 },
      ...{ firstTimestamp: time, lastTimestamp: time },
      source: { component: 'twinyard' },
      ...{ reportingComponent: 'twinyard', reportingInstance: identity.slice(0, 128) },
    };
    const path = collectionPath(KUBE_EVENTS, namespace);
    await this.#client.json(path, { method: 'POST', body, signal: AbortSignal.timeout(CALL_MS) });
  }
}

/** The least rights that these calls need. */
export const electionRules = ({ name }: Pick<LeaseName, 'name'>): RoleRule[] =>
  rulesFor([
    { kind: LEASES, action: 'create' },
    { kind: LEASES, action: 'get', name },
    { kind: LEASES, action: 'update', name },
    { kind: KUBE_EVENTS, action: 'create' },
  ]);
