import { MOST_REPLICAS } from '../config/most-replicas.js';
import { policyKeys } from '../config/policy-keys.js';
import { readPolicyBody, readReplicaBody } from '../config/read-admin-body.js';
import { findExplanation } from '../decisions/find-explanation.js';
import { tooManyReplicas } from '../errors.js';
import type { Endpoint } from '../fleet/endpoint/endpoint.js';
import type { LiveReplica } from '../fleet/replica/live-replica.js';
import type { AdminHost } from './admin-host.js';
import { type AdminRequest, type AdminResponse, failed, ok } from './admin-route.js';
import { auditChange } from './audit-change.js';
import { withoutSecrets } from './without-secrets.js';

/** Decisions that a list shows. */
const LISTED = 50;

export function listDecisions({ ring }: AdminHost): AdminResponse {
  return ok(ring.latest(LISTED));
}

/** Why it went where it went, or why it was refused. */
export function showDecision({ refusals, ring }: AdminHost, { name: id }: AdminRequest): AdminResponse {
  const found = findExplanation(ring, refusals, id);
  return found === undefined ? failed(404, `no decision about '${id}' is remembered`) : ok(found);
}

export function listReplicas({ endpoints, fleet }: AdminHost): AdminResponse {
  const present = [...endpoints.values()].flatMap((endpoint) =>
    endpoint.replicas.map((replica) => replicaFacts(endpoint, replica)),
  );
  return ok([...present, ...fleet.leaving().map((replica) => replicaFacts(null, replica))]);
}

export async function addReplica(host: AdminHost, { body, by }: AdminRequest): Promise<AdminResponse> {
  const { endpoint: name, replica: config } = readReplicaBody(body);
  const endpoint = host.endpoints.get(name);
  if (endpoint === undefined) return noEndpoint(name);
  if (endpoint.managed !== null) return isKept(name);
  if (host.replicas().some(({ id }) => id === config.id)) {
    return failed(409, `there is a replica '${config.id}': give another id`);
  }
  if (endpoint.replicas.length >= MOST_REPLICAS) throw tooManyReplicas(`endpoint '${name}'`, MOST_REPLICAS);
  const facts = replicaFacts(endpoint, host.fleet.add(endpoint, config));
  await auditChange(host, by, {
    ...{ kind: 'Replica', name: config.id, action: 'create', before: null },
    after: { endpoint: name, ...config },
  });
  return { status: 201, body: facts };
}

/** It finishes what it has, and is listed without an endpoint until then. */
export async function removeReplica(host: AdminHost, { by, name: id }: AdminRequest): Promise<AdminResponse> {
  const replica = host.replicas().find((one) => one.id === id);
  if (replica === undefined) return failed(404, `there is no replica '${id}'`);
  if (host.endpoints.get(replica.endpoint)?.managed) return isKept(replica.endpoint);
  const { endpoint, engine, url } = replica;
  host.fleet.remove(replica);
  await auditChange(host, by, {
    ...{ kind: 'Replica', name: id, action: 'delete', after: null },
    before: { endpoint, id, url, engine },
  });
  return { status: 202, body: { status: 'leaving', active: replica.active } };
}

export function listEndpoints({ endpoints }: AdminHost): AdminResponse {
  return ok([...endpoints.values()].map(endpointFacts));
}

export async function setPolicy(host: AdminHost, { body, by, name }: AdminRequest): Promise<AdminResponse> {
  const endpoint = host.endpoints.get(name);
  if (endpoint === undefined) return noEndpoint(name);
  if (endpoint.managed !== null) return isKept(name);
  const warnings: string[] = [];
  const before = endpoint.policy;
  endpoint.setPolicy(readPolicyBody(body, before, (line) => warnings.push(line)));
  await auditChange(host, by, {
    ...{ kind: 'Policy', name, action: 'update' },
    ...{ before: policyKeys(before), after: policyKeys(endpoint.policy) },
  });
  return ok({ ...endpointFacts(endpoint), warnings });
}

/** The policy before this one holds again; once more, and it is the one before that. */
export async function rollBackPolicy(host: AdminHost, { by, name }: AdminRequest): Promise<AdminResponse> {
  const endpoint = host.endpoints.get(name);
  if (endpoint === undefined) return noEndpoint(name);
  if (endpoint.managed !== null) return isKept(name);
  const before = endpoint.policy;
  if (endpoint.rollback() === null) return failed(409, `endpoint '${name}' remembers no policy before this one`);
  await auditChange(host, by, {
    ...{ kind: 'Policy', name, action: 'update' },
    ...{ before: policyKeys(before), after: policyKeys(endpoint.policy) },
  });
  return ok(endpointFacts(endpoint));
}

/** The policy that holds, then those before it. */
export function listPolicies(host: AdminHost, { name }: AdminRequest): AdminResponse {
  const endpoint = host.endpoints.get(name);
  if (endpoint === undefined) return noEndpoint(name);
  const now = host.nowMs();
  return ok(
    endpoint.history().map(({ hash, policy, sinceUs }) => ({
      policy: policyKeys(policy),
      policy_hash: hash,
      age_s: (now - sinceUs / 1000) / 1000,
    })),
  );
}

export function showConfig({ config, fleet }: AdminHost): AdminResponse {
  return ok(withoutSecrets({ ...config, endpoints: fleet.config }));
}

export async function reload(host: AdminHost, { by }: AdminRequest): Promise<AdminResponse> {
  const before = host.config;
  const needsRestart = host.reloadConfig();
  await auditChange(host, by, {
    ...{ kind: 'Configuration', name: 'gateway', action: 'update' },
    ...{ before, after: host.config },
  });
  return ok({ status: 'reloaded', needs_restart: needsRestart });
}

function noEndpoint(name: string): AdminResponse {
  return failed(404, `there is no endpoint '${name}'`);
}

/** What is declared elsewhere would be put right again at once. */
function isKept(name: string): AdminResponse {
  return failed(409, `endpoint '${name}' is kept by the control plane: change its resource instead`);
}

function endpointFacts({ flow, inFlight, name, policy, policyHash, replicas }: Endpoint): object {
  return {
    name,
    policy: policyKeys(policy),
    policy_hash: policyHash,
    in_flight: inFlight,
    queued: Object.fromEntries(flow.waitingByClass()),
    replicas: replicas.map(({ id }) => id),
  };
}

function replicaFacts(endpoint: Endpoint | null, replica: LiveReplica): object {
  return {
    endpoint: endpoint?.name ?? null,
    id: replica.id,
    url: withoutSecrets(replica.url),
    engine: replica.engine,
    state: replica.state,
    problem: replica.problem,
    breaker: replica.breaker.isOpen ? 'open' : 'closed',
    models: [...replica.models],
    in_flight: endpoint?.inFlightOf(replica) ?? 0,
    active: replica.active,
    signals: replica.signals,
  };
}
