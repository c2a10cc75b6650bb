import { hostSettings } from '../../gateway/decisions/deciding-fleet.js';
import type { Endpoint } from '../../gateway/fleet/endpoint/endpoint.js';
import type { ShadowPort } from '../../gateway/fleet/endpoint/shadow-port.js';
import type { ShadowFigures } from '../../gateway/telemetry/shadow-figures.js';
import { InputError } from '../../kernel/errors.js';
import { randomStream } from '../../kernel/random-stream.js';
import { knownNames } from '../../kernel/text/nearest-name.js';
import { MOST_SHADOWS, type ShadowChoice } from '../../policy/bundle/shadow-choice.js';
import { HostedPolicies } from '../../policy/host/hosted-policies.js';
import { LIVE } from '../../policy/host/worlds.js';
import { EndpointShadows } from './endpoint-shadows.js';
import { type Serving, Shadow } from './shadow.js';
import { realClock } from './time/real-clock.js';
import type { ShadowClock } from './time/shadow-clock.js';

export interface BoardParts {
  /** That of the gateway: a shadow draws the same numbers as the policy that serves. */
  readonly seed: number;
  readonly nowUs: () => number;
  /** Called with an error of a policy. */
  readonly fault: (error: unknown) => void;
  /** Records an event of an endpoint; none are recorded unless given. */
  readonly event?: (endpoint: string, type: 'warning', reason: string, message: string) => void;
  /** Real time unless set by a test. */
  readonly clock?: ShadowClock;
}

interface Followed {
  readonly shadows: EndpointShadows;
  /** Added by the API, by name. */
  readonly added: Map<string, ShadowChoice>;
}

/** The shadow policies of all endpoints of a gateway. */
export class ShadowBoard implements ShadowPort {
  readonly #parts: BoardParts;
  readonly #clock: ShadowClock;
  readonly #byEndpoint = new Map<Endpoint, Followed>();

  constructor(parts: BoardParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? realClock();
  }

  changed(endpoint: Endpoint): void {
    const followed = this.#byEndpoint.get(endpoint);
    if (followed === undefined && endpoint.policy.shadows.length === 0) return;
    this.#set(endpoint, followed ?? this.#follow(endpoint));
  }

  removed(endpoint: Endpoint): void {
    this.#byEndpoint.get(endpoint)?.shadows.set([]);
    this.#byEndpoint.delete(endpoint);
  }

  of(endpoint: Endpoint): ShadowFigures[] {
    const shadows = this.#byEndpoint.get(endpoint)?.shadows.shadows ?? [];
    return shadows.map((shadow) => shadow.figures()).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  add(endpoint: Endpoint, choice: ShadowChoice): void {
    const place = `shadow '${choice.name}' of endpoint ${endpoint.name}`;
    if (endpoint.policy.shadows.some(({ name }) => name === choice.name)) {
      throw new InputError('SHADOW_CONFIGURED', place, IN_CONFIGURATION, 'change it there, or give another name');
    }
    const followed = this.#byEndpoint.get(endpoint) ?? this.#follow(endpoint);
    const { added } = followed;
    const isNew = !added.has(choice.name);
    if (isNew && endpoint.policy.shadows.length + added.size >= MOST_SHADOWS) {
      const problem = `the endpoint has ${MOST_SHADOWS} shadows already`;
      throw new InputError('SHADOW_TOO_MANY', place, problem, 'remove one: each costs processor time');
    }
    added.set(choice.name, choice);
    this.#set(endpoint, followed, choice.name);
  }

  remove(endpoint: Endpoint, name: string): void {
    const place = `shadow '${name}' of endpoint ${endpoint.name}`;
    const followed = this.#byEndpoint.get(endpoint);
    if (endpoint.policy.shadows.some((shadow) => shadow.name === name)) {
      throw new InputError('SHADOW_CONFIGURED', place, IN_CONFIGURATION, 'remove it there');
    }
    if (followed?.added.delete(name) !== true) {
      const known = this.of(endpoint).map((shadow) => shadow.name);
      const hint = known.length === 0 ? 'the endpoint has none' : knownNames(name, known);
      throw new InputError('SHADOW_UNKNOWN', place, 'does not exist', hint);
    }
    this.#set(endpoint, followed);
  }

  #follow(endpoint: Endpoint): Followed {
    const failed = (error: unknown, { choice, stopped }: Shadow) => {
      const message = `shadow ${choice.name} (${choice.policy}) has stopped: ${stopped!.problem}`;
      this.#parts.event?.(endpoint.name, 'warning', 'ShadowStopped', message);
      this.#parts.fault(error);
    };
    const random = randomStream(this.#parts.seed, `shadows/${endpoint.name}`);
    const shadows = new EndpointShadows(endpoint.watch, { clock: this.#clock, random, failed });
    const followed = { shadows, added: new Map<string, ShadowChoice>() };
    this.#byEndpoint.set(endpoint, followed);
    return followed;
  }

  /** @param again one that begins again if it has stopped */
  #set(endpoint: Endpoint, { added, shadows }: Followed, again = ''): void {
    const { policy } = endpoint;
    // The configuration may have got a shadow of a name that was added before.
    for (const { name } of policy.shadows) added.delete(name);
    const serving = servingOf(endpoint);
    const { nowUs, seed } = this.#parts;
    const present = (choice: ShadowChoice, source: ShadowFigures['source']) =>
      shadows.shadows.find(
        (shadow) => shadow.is(choice, source, serving) && !(shadow.stopped !== null && choice.name === again),
      ) ?? new Shadow(choice, source, serving, seed, nowUs);
    shadows.set([
      ...policy.shadows.map((choice) => present(choice, 'configuration')),
      ...[...added.values()].map((choice) => present(choice, 'added')),
    ]);
    if (shadows.shadows.length === 0) this.#byEndpoint.delete(endpoint);
  }
}

const IN_CONFIGURATION = "is in the endpoint's configuration";

function servingOf({ policy }: Endpoint): Serving {
  const { blockSize, routingKey } = new HostedPolicies(hostSettings(policy), LIVE);
  return { policy, key: routingKey, blockSize };
}
