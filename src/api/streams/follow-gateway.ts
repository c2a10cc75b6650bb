import { setTimeout as delay } from 'node:timers/promises';
import { type EndpointName, endpointName } from '../../gateway/fleet/endpoint-name.js';
import type { ServedGateway } from '../api-host.js';
import { endpointView, type LiveReplicaView, leavingReplicas, presentReplicas } from '../gateway/live-endpoints.js';
import { sharedLooks } from './shared-looks.js';

const PAUSE_MS = 1000;

export interface ReplicaChange {
  /** `listed`: as it is when the stream starts, or when it joins. */
  readonly type: 'listed' | 'changed' | 'removed';
  readonly replica: LiveReplicaView;
}

/**
 * The state of every replica, then each change, until the signal. The gateway is polled once a second, and only while a
 * client follows: requests cost nothing more.
 */
export async function* followReplicas(
  gateway: FollowedGateway,
  isWanted: (replica: Pick<LiveReplicaView, 'endpoint' | 'workspace'>) => boolean,
  signal: AbortSignal,
  pauseMs = PAUSE_MS,
): AsyncGenerator<ReplicaChange> {
  let known = new Map<string, SeenReplica>();
  while (!signal.aborted) {
    const now: typeof known = new Map();
    for (const one of seenReplicas(gateway, ({ name: endpoint, workspace }) => isWanted({ endpoint, workspace }))) {
      const { key, replica, text } = one;
      const before = known.get(key);
      now.set(key, one);
      if (before?.text !== text) yield { type: before === undefined ? 'listed' : 'changed', replica };
    }
    for (const [key, { replica }] of known) if (!now.has(key)) yield { type: 'removed', replica };
    known = now;
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
}

type FollowedGateway = Pick<ServedGateway, 'endpoints' | 'fleet' | 'nowMs'>;

interface SeenReplica {
  readonly key: string;
  readonly replica: LiveReplicaView;
  readonly text: string;
}

/** Each endpoint is looked at once for all streams, and not at all when none wants it. */
function* seenReplicas(gateway: FollowedGateway, isWanted: (called: EndpointName) => boolean): Generator<SeenReplica> {
  const looks = sharedLooks(gateway);
  for (const endpoint of gateway.endpoints.values()) {
    if (!isWanted(endpointName(endpoint))) continue;
    yield* looks.of(`replicas of ${endpoint.name}`, () => presentReplicas(endpoint).map(seenReplica));
  }
  yield* leavingReplicas(gateway, isWanted).map(seenReplica);
}

function seenReplica(replica: LiveReplicaView): SeenReplica {
  const { endpoint, id, workspace } = replica;
  return { key: `${workspace}/${endpoint}/${id}`, replica, text: JSON.stringify(replica) };
}

/** The traffic every two seconds, until the signal. It is summed up only while a client follows. */
export async function* followTraffic<View>(
  read: () => View,
  signal: AbortSignal,
  pauseMs = 2 * PAUSE_MS,
): AsyncGenerator<View> {
  while (!signal.aborted) {
    yield read();
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** A change of the gateway itself: the policy of an endpoint, its configuration, or that it stops taking requests. */
export type GatewayChange =
  | { readonly type: 'policy'; readonly endpoint: ReturnType<typeof endpointView> }
  | { readonly type: 'config' | 'draining' };

/** The same for the gateway itself: changes from now on. */
export async function* followGateway(
  gateway: Pick<ServedGateway, 'config' | 'endpoints' | 'fleet' | 'isDraining' | 'nowMs' | 'traffic'>,
  signal: AbortSignal,
  pauseMs = PAUSE_MS,
): AsyncGenerator<GatewayChange> {
  let { config, isDraining } = gateway;
  let hashes = hashesOf(gateway);
  while (!signal.aborted) {
    await delay(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    if (gateway.config !== config) yield { type: 'config' };
    if (gateway.isDraining && !isDraining) yield { type: 'draining' };
    const now = hashesOf(gateway);
    for (const endpoint of now === hashes ? [] : gateway.endpoints.values()) {
      const name = fullName(endpoint);
      const [before, after] = [hashes.get(name), now.get(name)];
      if (before !== undefined && after !== undefined && before !== after)
        yield { type: 'policy', endpoint: endpointView(gateway, endpoint) };
    }
    ({ config, isDraining } = gateway);
    hashes = now;
  }
}

type Endpoint = Parameters<typeof endpointView>[1];

const hashesOf = (gateway: Pick<ServedGateway, 'endpoints' | 'nowMs'>) =>
  sharedLooks(gateway).of(
    'policies',
    () => new Map([...gateway.endpoints.values()].map((endpoint) => [fullName(endpoint), endpoint.policyHash])),
  );

function fullName(endpoint: Endpoint): string {
  const { name, workspace } = endpointName(endpoint);
  return `${workspace}/${name}`;
}
