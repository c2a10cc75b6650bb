import type { WorkspaceRemoved } from '../store/resources/removed-workspaces.js';
import type { DecisionRing } from './decisions/decision-ring.js';
import type { Endpoint } from './fleet/endpoint/endpoint.js';
import { namedEndpoint } from './fleet/endpoint-name.js';
import type { GatewayClock } from './gateway-clock.js';
import type { LiveTraffic } from './live-traffic.js';

export interface FormerParts {
  readonly clock: Pick<GatewayClock, 'epochUs'>;
  readonly ring: Pick<DecisionRing, 'forget'>;
  readonly traffic: Pick<LiveTraffic, 'forget'>;
  readonly endpoints: () => ReadonlyMap<string, Endpoint>;
}

/** Workspaces that have been removed: what the gateway keeps outside of the store goes with them, and is not inherited with their names. */
export class FormerWorkspaces {
  /** Called after the gateway itself has forgotten what it has of one. */
  readonly listeners: WorkspaceRemoved[] = [];
  readonly #parts: FormerParts;
  /** When they were removed, by name. */
  readonly #untilMs = new Map<string, number>();

  constructor(parts: FormerParts) {
    this.#parts = parts;
  }

  /** When a workspace of this name was removed, in microseconds since 1970; 0 without one. What was recorded before is its. */
  untilUs(workspace: string): number {
    return 1000 * (this.#untilMs.get(workspace) ?? 0);
  }

  readonly removed: WorkspaceRemoved = async (workspace, untilMs) => {
    const { clock, endpoints, ring, traffic } = this.#parts;
    this.#untilMs.set(workspace, untilMs);
    const untilUs = 1000 * untilMs - clock.epochUs;
    const isOf = (endpoint: string) => namedEndpoint(endpoints(), endpoint).workspace === workspace;
    traffic.forget(isOf, untilUs);
    ring.forget(isOf, untilUs);
    for (const forget of this.listeners) await forget(workspace, untilMs);
  };
}
