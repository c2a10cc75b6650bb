import { InputError } from '../../kernel/errors.js';
import { tooManyReplicas } from '../errors.js';
import { MOST_REPLICAS } from '../fleet/deciding-fleet.js';
import type { Endpoint } from '../fleet/endpoint.js';
import type { LiveReplica } from '../fleet/live-replica.js';
import type { Gateway } from '../gateway.js';
import { readPolicyBody, readReplicaBody } from '../read-admin-body.js';

export interface AdminAnswer {
  status: number;
  body: unknown;
  /** The methods a path takes, for those who used another. */
  allow?: string;
}

interface AdminRoute {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: RegExp;
  /** @param name what the path names, decoded */
  answer(gateway: Gateway, name: string, body: string): AdminAnswer;
}

/** Decisions that a list shows. */
const LISTED = 50;

/** The whole admin API. */
const ROUTES: readonly AdminRoute[] = [
  { method: 'GET', path: /^\/api\/decisions$/, answer: ({ ring }) => ok(ring.latest(LISTED)) },
  { method: 'GET', path: /^\/api\/decisions\/(.+)$/, answer: showDecision },
  { method: 'GET', path: /^\/api\/replicas$/, answer: (gateway) => ok(replicaList(gateway)) },
  { method: 'POST', path: /^\/api\/replicas$/, answer: addReplica },
  { method: 'DELETE', path: /^\/api\/replicas\/(.+)$/, answer: removeReplica },
  { method: 'GET', path: /^\/api\/endpoints$/, answer: (gateway) => ok([...gateway.endpoints.values()].map(shown)) },
  { method: 'PUT', path: /^\/api\/endpoints\/([^/]+)\/policy$/, answer: setPolicy },
  {
    method: 'GET',
    path: /^\/api\/config$/,
    answer: ({ config, fleet }) => ok({ ...config, endpoints: fleet.config }),
  },
  { method: 'POST', path: /^\/api\/reload$/, answer: reload },
];

/** What somebody with the token gets. Throws only what is a bug. */
export function answerAdmin(gateway: Gateway, method: string, path: string, body: string): AdminAnswer {
  const routes = ROUTES.filter((one) => one.path.test(path));
  if (routes.length === 0) return failed(404, `there is no ${path} here`);
  const wanted = method === 'HEAD' ? 'GET' : method;
  const route = routes.find((one) => one.method === wanted);
  if (route === undefined) {
    const allow = routes.map((one) => one.method).join(', ');
    return { ...failed(405, `${path} does not take ${method}: use ${allow}`), allow };
  }
  const name = decoded(route.path.exec(path)![1] ?? '');
  if (name === null) return failed(400, `${path} is not well encoded`);
  try {
    return route.answer(gateway, name, body);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return failed(400, error.message);
  }
}

function showDecision({ ring }: Gateway, id: string): AdminAnswer {
  const record = ring.find(id);
  return record === undefined ? failed(404, `no decision about '${id}' is remembered`) : ok(record);
}

function addReplica(gateway: Gateway, _: string, body: string): AdminAnswer {
  const { endpoint: name, replica: config } = readReplicaBody(body);
  const endpoint = gateway.endpoints.get(name);
  if (endpoint === undefined) return failed(404, `there is no endpoint '${name}'`);
  if (gateway.replicas().some(({ id }) => id === config.id)) {
    return failed(409, `there is a replica '${config.id}': give another id`);
  }
  if (endpoint.replicas.length >= MOST_REPLICAS) throw tooManyReplicas(`endpoint '${name}'`, MOST_REPLICAS);
  return { status: 201, body: replicaFacts(endpoint, gateway.fleet.add(endpoint, config)) };
}

/** It finishes what it has, and is listed without an endpoint until then. */
function removeReplica(gateway: Gateway, id: string): AdminAnswer {
  const replica = gateway.replicas().find((one) => one.id === id);
  if (replica === undefined) return failed(404, `there is no replica '${id}'`);
  gateway.fleet.remove(replica);
  return { status: 202, body: { status: 'leaving', active: replica.active } };
}

function setPolicy(gateway: Gateway, name: string, body: string): AdminAnswer {
  const endpoint = gateway.endpoints.get(name);
  if (endpoint === undefined) return failed(404, `there is no endpoint '${name}'`);
  endpoint.setPolicy(readPolicyBody(body));
  return ok(shown(endpoint));
}

function reload(gateway: Gateway): AdminAnswer {
  return ok({ status: 'reloaded', needs_restart: gateway.reloadConfig() });
}

function shown({ inFlight, name, policy, policyHash, replicas }: Endpoint): object {
  return { name, policy, policy_hash: policyHash, in_flight: inFlight, replicas: replicas.map(({ id }) => id) };
}

function replicaList(gateway: Gateway): object[] {
  const present = [...gateway.endpoints.values()].flatMap((endpoint) =>
    endpoint.replicas.map((replica) => replicaFacts(endpoint, replica)),
  );
  return [...present, ...gateway.fleet.leaving().map((replica) => replicaFacts(null, replica))];
}

function replicaFacts(endpoint: Endpoint | null, replica: LiveReplica): object {
  return {
    endpoint: endpoint?.name ?? null,
    id: replica.id,
    url: replica.url,
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

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function ok(body: unknown): AdminAnswer {
  return { status: 200, body };
}

function failed(status: number, error: string): AdminAnswer {
  return { status, body: { error } };
}
