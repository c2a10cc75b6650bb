import type { HostedQueue } from '../policy/host/hosted-queue.js';
import type { Replica } from '../replica/replica.js';
import type { RequestOutcomes } from '../replica/request-outcomes.js';
import type { DecisionTrace } from './decision-trace.js';
import type { RequestRouter } from './gateway-routers.js';

/** The parts that a cluster is built from. */
export interface ClusterParts {
  replicas: readonly Replica[];
  router: RequestRouter;
  outcomes: RequestOutcomes;
  /** The queue between admission and routing; null: requests are routed at once. */
  queue: HostedQueue | null;
  trace: DecisionTrace | null;
  /** Whether any policy looks at the fleet; otherwise replicas need not be kept in step. */
  looks: boolean;
  progress?: ((arrived: number, known: number) => void) | undefined;
}
