import type { EndpointProfile } from '../../control/resources/kinds/endpoint.js';
import { DEFAULT_WORKSPACE } from '../../control/resources/resource.js';
import { policyKeys } from '../../gateway/config/policy-keys.js';
import type { Endpoint } from '../../gateway/fleet/endpoint/endpoint.js';
import { managedName } from '../../gateway/fleet/endpoint-directory.js';
import { type EndpointName, endpointName, namedEndpoint } from '../../gateway/fleet/endpoint-name.js';
import type { LiveReplica } from '../../gateway/fleet/replica/live-replica.js';
import type { EngineProfileState } from '../../gateway/prediction/profile-book.js';
import type { ServedGateway } from '../api-host.js';
import { managedEndpoint, unknownEndpoint } from '../errors.js';
import { shadowView } from '../views/shadow-views.js';
import { withoutSecrets } from '../without-secrets.js';

/** An endpoint that the gateway serves; throws `API_ENDPOINT` when it does not. */
export function liveEndpoint(gateway: Pick<ServedGateway, 'endpoints'>, called: EndpointName): Endpoint {
  const found = findEndpoint(gateway, called);
  if (found === undefined) throw unknownEndpoint(called.workspace, called.name);
  return found;
}

/** The same, undefined when it does not. */
export function findEndpoint(
  { endpoints }: Pick<ServedGateway, 'endpoints'>,
  { name, workspace }: EndpointName,
): Endpoint | undefined {
  const managed = endpoints.get(managedName(workspace, name));
  if (managed?.managed) return managed;
  const ofFile = workspace === DEFAULT_WORKSPACE ? endpoints.get(name) : undefined;
  return ofFile?.managed === null ? ofFile : undefined;
}

/** The same for a change, which only endpoints of the configuration file take: reconciliation would undo any other. */
export function fileEndpoint(gateway: Pick<ServedGateway, 'endpoints'>, called: EndpointName): Endpoint {
  const endpoint = liveEndpoint(gateway, called);
  if (endpoint.managed !== null) throw managedEndpoint(called.workspace, called.name);
  return endpoint;
}

export function endpointView(gateway: Pick<ServedGateway, 'fleet' | 'nowMs' | 'traffic'>, endpoint: Endpoint) {
  const { inFlight, managed, policy, policyHash, replicas, usedFlow } = endpoint;
  return {
    ...endpointName(endpoint),
    source: managed === null ? 'file' : 'control-plane',
    models: modelsOf(endpoint),
    policy: policyKeys(policy),
    policy_hash: policyHash,
    in_flight: inFlight,
    queued: Object.fromEntries(usedFlow?.waitingByClass() ?? []),
    replicas: replicas.map(({ id }) => id),
    shadows: (gateway.fleet.shadows?.of(endpoint) ?? []).map((one) => shadowView(one, gateway.nowMs())),
    profiles: gateway.traffic.profiles?.states(endpoint.name).map(profileSummary) ?? [],
  };
}

/** In the view of the endpoint. */
function profileSummary({ ageS, drift, engine, isPinned, isUsed, problem, score, source }: EngineProfileState) {
  return {
    ...{ engine, source, used: isUsed, pinned: isPinned, age_s: ageS, score },
    ...{ drift: drift?.message ?? '', problem },
  };
}

/** In the status of the endpoint: nothing there changes by itself. */
export function profilesOf({ traffic }: Pick<ServedGateway, 'traffic'>, fullName: string): EndpointProfile[] {
  const states = traffic.profiles?.states(fullName) ?? [];
  return states.map(({ drift, engine, isPinned, isUsed, madeMs, problem, profile, score }) => ({
    ...{ engine, name: profile?.name ?? null, used: isUsed, pinned: isPinned },
    fitted_at: madeMs === null ? null : new Date(madeMs).toISOString(),
    ...{ score, drift: drift?.message ?? '', problem },
  }));
}

export function modelsOf({ managed, replicas }: Pick<Endpoint, 'managed' | 'replicas'>): string[] {
  return [...new Set([...(managed?.models ?? []), ...replicas.flatMap(({ models }) => [...models])])];
}

export type LiveReplicaView = ReturnType<typeof replicaView>;

/** Every replica of the endpoints that are wanted, and those that have left them and still have requests. */
export function replicaViews(
  { endpoints, fleet }: Pick<ServedGateway, 'endpoints' | 'fleet'>,
  isWanted: (called: EndpointName) => boolean = () => true,
): LiveReplicaView[] {
  const present = [...endpoints.values()].filter((one) => isWanted(endpointName(one))).flatMap(presentReplicas);
  return [...present, ...leavingReplicas({ endpoints, fleet }, isWanted)];
}

export function presentReplicas(endpoint: Endpoint): LiveReplicaView[] {
  const called = endpointName(endpoint);
  return endpoint.replicas.map((replica) =>
    replicaView(called, replica, endpoint.inFlightOf(replica), endpoint.suspicionOf(replica)),
  );
}

/** Those that have left their endpoint and still have requests. */
export function leavingReplicas(
  { endpoints, fleet }: Pick<ServedGateway, 'endpoints' | 'fleet'>,
  isWanted: (called: EndpointName) => boolean,
): LiveReplicaView[] {
  return fleet.leaving().flatMap((replica) => {
    const called = namedEndpoint(endpoints, replica.endpoint);
    return isWanted(called) ? [replicaView(called, replica, null, '')] : [];
  });
}

/** @param inFlight null for one that has left its endpoint */
export function replicaView(
  { name, workspace }: EndpointName,
  replica: LiveReplica,
  inFlight: number | null,
  suspect: string,
) {
  return {
    workspace,
    endpoint: name,
    id: replica.id,
    url: withoutSecrets(replica.url),
    engine: replica.engine,
    hardware: replica.hardware,
    tp: replica.tp,
    state: replica.state,
    problem: replica.problem,
    leaving: inFlight === null,
    breaker: replica.breaker.isOpen ? 'open' : 'closed',
    suspect,
    models: [...replica.models],
    in_flight: inFlight ?? 0,
    active: replica.active,
    signals: replica.signals,
  };
}
