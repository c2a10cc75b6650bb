import type { ManagedRoutes } from '../../../gateway/fleet/managed-routes.js';
import type { Runner } from '../../runner/contract.js';
import type { ControlStore } from '../../store/control-store.js';
import type { ModelFetches } from '../models/model-fetches.js';
import type { Timing } from '../timing.js';
import type { LeavingReplicas } from './leaving-replicas.js';

/** What endpoints are kept true with. */
export interface EndpointParts {
  readonly store: ControlStore;
  readonly runner: Pick<Runner, 'start' | 'stop' | 'list'>;
  readonly routes: ManagedRoutes;
  readonly leaving: LeavingReplicas;
  readonly fetches: ModelFetches;
  readonly timing: Timing;
  /** How this very program is started. */
  readonly self: readonly string[];
  /** Where clients ask an endpoint. */
  readonly urlOf: (workspace: string, name: string) => string;
  /** What makes a replica's name its own: some of a-z and 0-9. */
  readonly randomName: () => string;
}
