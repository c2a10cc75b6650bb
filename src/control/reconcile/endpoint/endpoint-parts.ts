import type { ManagedRoutes } from '../../../gateway/fleet/managed-routes.js';
import type { ClusterRunners } from '../../runner/cluster-runners.js';
import type { ControlStore } from '../../store/control-store.js';
import type { ModelFetches } from '../models/model-fetches.js';
import type { Timing } from '../queue/timing.js';
import type { ReplicaDrainer } from './replica-drainer.js';

/** What endpoints are reconciled with. */
export interface EndpointParts {
  readonly store: ControlStore;
  readonly runners: Pick<ClusterRunners, 'typeOf' | 'start' | 'stop' | 'list' | 'forgetLog'>;
  readonly routes: ManagedRoutes;
  readonly draining: ReplicaDrainer;
  readonly fetches: ModelFetches;
  readonly timing: Timing;
  /** The command of this program, for engines that are part of it. */
  readonly self: readonly string[];
  /** The base URL of an endpoint for clients. */
  readonly urlOf: (workspace: string, name: string) => string;
  /** The unique part of a replica's id, of a-z and 0-9. */
  readonly randomName: () => string;
}
