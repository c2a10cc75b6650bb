import { hostSettings } from '../../gateway/decisions/deciding-fleet.js';
import type { Endpoint } from '../../gateway/fleet/endpoint/endpoint.js';
import type { ShadowPort } from '../../gateway/fleet/endpoint/shadow-port.js';
import { endpointWorkspace } from '../../gateway/fleet/endpoint-directory.js';
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

/** Of all endpoints, and of those of one workspace: an idle shadow takes no time, but up to a megabyte. */
const MOST_IN_GATEWAY = 64;
const MOST_IN_WORKSPACE = 32;

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
  /** Those that the limits have stopped. */
  readonly #beyond = new WeakSet<Shadow>();
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
    const present = this.#byEndpoint.get(endpoint);
    const isFull = endpoint.policy.shadows.length + (present?.added.size ?? 0) >= MOST_SHADOWS;
    const problem = isFull ? `the endpoint has ${MOST_SHADOWS} shadows already` : this.#tooMany(endpoint);
    if (present?.added.has(choice.name) !== true && problem !== null)
      throw new InputError('SHADOW_TOO_MANY', place, problem, REMOVE_ONE);
    const followed = present ?? this.#follow(endpoint);
    followed.added.set(choice.name, choice);
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

  /** Why no further shadow fits; null when one does. */
  #tooMany(endpoint: Endpoint): string | null {
    const workspace = endpointWorkspace(endpoint);
    let [all, own] = [0, 0];
    for (const [one, { shadows }] of this.#byEndpoint) {
      const running = shadows.shadows.filter(({ stopped }) => stopped === null).length;
      all += running;
      if (endpointWorkspace(one) === workspace) own += running;
    }
    if (own >= MOST_IN_WORKSPACE) return `workspace ${workspace} has ${MOST_IN_WORKSPACE} shadows already`;
    return all >= MOST_IN_GATEWAY ? `the gateway has ${MOST_IN_GATEWAY} shadows already` : null;
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
        (shadow) =>
          shadow.is(choice, source, serving) &&
          !this.#beyond.has(shadow) &&
          !(shadow.stopped !== null && choice.name === again),
      ) ?? new Shadow(choice, source, serving, seed, nowUs);
    const kept = [
      ...policy.shadows.map((choice) => present(choice, 'configuration')),
      ...[...added.values()].map((choice) => present(choice, 'added')),
    ];
    const isNew = (shadow: Shadow) => !shadows.shadows.includes(shadow);
    shadows.set(kept.filter((shadow) => !isNew(shadow)));
    // One that is configured beyond the limits is reported as stopped: it must not keep the endpoint from serving.
    for (const shadow of kept.filter(isNew)) {
      const problem = this.#tooMany(endpoint);
      if (problem !== null) {
        shadow.stop(new Error(`${problem}: ${REMOVE_ONE}, then reload the configuration`));
        this.#beyond.add(shadow);
      }
      shadows.set(kept.filter((one) => one === shadow || !isNew(one)));
    }
    if (shadows.shadows.length === 0) this.#byEndpoint.delete(endpoint);
  }
}

const REMOVE_ONE = 'remove one of these: each costs memory and processor time';
const IN_CONFIGURATION = "is in the endpoint's configuration";

function servingOf({ policy }: Endpoint): Serving {
  const { blockSize, routingKey } = new HostedPolicies(hostSettings(policy), LIVE);
  return { policy, key: routingKey, blockSize };
}
