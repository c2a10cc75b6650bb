import type { Store } from '../../store/open-store.js';
import type { Endpoint } from '../fleet/endpoint/endpoint.js';
import { endpointName } from '../fleet/endpoint-name.js';
import type { LiveReplica } from '../fleet/replica/live-replica.js';

const TURN_MS = 1000;
/** More changes of a kind at once are one event. */
const MOST_EACH = 4;

/** The uid under which events of an endpoint of the configuration file are stored: it is no resource and has none. */
export const fileEndpointUid = (name: string) => `file:${name}`;

/** What is needed of a gateway. */
export interface ServedEndpoints {
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly store: Store | null;
}

export interface EndpointEvent {
  readonly type: 'normal' | 'warning';
  /** One word. */
  readonly reason: string;
  readonly message: string;
}

/** Stores an event of an endpoint that the gateway serves. A gateway without a store keeps none. */
export async function addEndpointEvent(
  { endpoints, store }: ServedEndpoints,
  fullName: string,
  { message, reason, type }: EndpointEvent,
): Promise<void> {
  const endpoint = endpoints.get(fullName);
  if (store === null || endpoint === undefined) return;
  const called = { kind: 'Endpoint', ...endpointName(endpoint) };
  try {
    const uid = endpoint.managed === null ? fileEndpointUid(called.name) : (await store.resources.get(called))?.uid;
    if (uid !== undefined) await store.events.add({ ...called, uid }, type, reason, message);
  } catch {
    // The store is away: the log has what matters.
  }
}

interface Seen {
  readonly policy: string;
  readonly policyHash: string;
  /** States by replica. */
  readonly states: ReadonlyMap<string, string>;
}

const stateOf = ({ breaker, state }: LiveReplica) => (state === 'ready' && breaker.isOpen ? 'failing' : state);

/** What happens to an endpoint of the configuration file, from one look to the next. */
export class EndpointChanges {
  #seen: Seen | null = null;

  /** Events since the last look; the first one says how the endpoint starts. */
  look({ policy, policyHash, replicas }: Pick<Endpoint, 'policy' | 'policyHash' | 'replicas'>): EndpointEvent[] {
    const before = this.#seen;
    const states = new Map(replicas.map((one) => [one.id, stateOf(one)]));
    this.#seen = { policy: policy.name, policyHash, states };
    if (before === null) return [startEvent(policy.name, states)];
    const changed = replicas.filter((one) => before.states.get(one.id) !== states.get(one.id));
    const inState = (state: string) => changed.filter((one) => states.get(one.id) === state);
    const left = [...before.states.keys()].filter((id) => !states.has(id));
    return [
      ...(policyHash === before.policyHash ? [] : [policyEvent(before.policy, policy.name)]),
      ...grouped('warning', 'Unhealthy', inState('unhealthy'), ({ id, problem }) => `replica ${id}: ${problem}`),
      ...grouped('warning', 'BreakerOpen', inState('failing'), ({ id }) => `replica ${id} fails its requests`),
      ...grouped('normal', 'Ready', inState('ready'), ({ id }) => `replica ${id} is ready`),
      ...grouped(
        'normal',
        'Left',
        left.map((id) => ({ id })),
        ({ id }) => `replica ${id} has left`,
      ),
    ];
  }
}

function startEvent(policy: string, states: Seen['states']): EndpointEvent {
  const ready = [...states.values()].filter((state) => state === 'ready').length;
  const message = `serving with ${policy}, ${ready} of ${states.size} replicas ready`;
  return { type: ready < states.size ? 'warning' : 'normal', reason: 'Serving', message };
}

const policyEvent = (before: string, now: string): EndpointEvent => ({
  type: 'normal',
  reason: 'PolicySwapped',
  message: before === now ? `${now} has other options` : `${now} serves, before ${before}`,
});

function grouped<One extends { readonly id: string }>(
  type: EndpointEvent['type'],
  reason: string,
  replicas: readonly One[],
  text: (one: One) => string,
): EndpointEvent[] {
  if (replicas.length <= MOST_EACH) return replicas.map((one) => ({ type, reason, message: text(one) }));
  const more = `${text(replicas[0]!)}; the same of ${replicas.length - 1} other replicas`;
  return [{ type, reason, message: more }];
}

/** Stores what happens to the endpoints of the configuration file, from now on. */
export function startEndpointEvents(gateway: ServedEndpoints & { fault(error: unknown): void }): {
  close(): Promise<void>;
} {
  if (gateway.store === null) return { close: async () => {} };
  const all = new Map<string, EndpointChanges>();
  let turn = Promise.resolve();
  let isBusy = false;
  const look = async () => {
    for (const [name, endpoint] of gateway.endpoints) {
      if (endpoint.managed !== null) continue;
      const changes = all.get(name) ?? new EndpointChanges();
      all.set(name, changes);
      for (const event of changes.look(endpoint)) await addEndpointEvent(gateway, name, event);
    }
  };
  const next = () => {
    if (isBusy) return;
    isBusy = true;
    turn = look()
      .catch((error) => gateway.fault(error))
      .finally(() => {
        isBusy = false;
      });
  };
  next();
  const timer = setInterval(next, TURN_MS).unref();
  return {
    async close() {
      clearInterval(timer);
      await turn;
    },
  };
}
