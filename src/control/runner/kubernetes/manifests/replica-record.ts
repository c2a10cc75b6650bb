import type { ReplicaExit, ReplicaResources, ReplicaSpec } from '../../contract.js';
import type { Deployment, RenderedDeployment } from './deployment.js';
import { ENDPOINT_LABEL, REPLICA_LABEL, WORKSPACE_LABEL } from './replica-labels.js';

/** What a later control plane needs to know of a replica, kept in annotations of its Deployment. It holds no secrets. */
export interface PodReplicaRecord
  extends Pick<ReplicaSpec, 'id' | 'workspace' | 'endpoint' | 'generation' | 'specHash'> {
  readonly resources: ReplicaResources;
  readonly port: number;
  readonly startupTimeoutMs: number;
  readonly startedAt: number;
}

/** What changes during the life of a replica. */
export interface ReplicaProgress {
  /** Its address once it was ready or has exited. */
  readonly url: string | null;
  readonly readyAt: number | null;
  /** It is being ended for this reason. */
  readonly ending: 'stopped' | 'startup-timeout' | null;
  readonly exit: ReplicaExit | null;
}

export const NO_PROGRESS: ReplicaProgress = { url: null, readyAt: null, ending: null, exit: null };

const RECORD = 'twinyard/record';
const PROGRESS = 'twinyard/progress';
/** The Deployment as rendered: what an edited one is restored from. */
const APPLIED = 'twinyard/applied';

export function annotationsOf(
  { endpoint: _, id: __, workspace: ___, ...rest }: PodReplicaRecord,
  progress: ReplicaProgress,
  rendered: object,
): Record<string, string> {
  return {
    [RECORD]: JSON.stringify(rest),
    [PROGRESS]: JSON.stringify(progress),
    [APPLIED]: JSON.stringify(rendered),
  };
}

export interface FoundDeployment {
  readonly record: PodReplicaRecord;
  readonly progress: ReplicaProgress;
  readonly rendered: RenderedDeployment;
}

/** Null: the annotations are missing or damaged. */
export function readDeployment({ metadata: { annotations = {}, labels = {} } }: Deployment): FoundDeployment | null {
  try {
    const [id, endpoint, workspace] = [REPLICA_LABEL, ENDPOINT_LABEL, WORKSPACE_LABEL].map((name) => labels[name]);
    const rest = JSON.parse(annotations[RECORD] ?? '') as Omit<PodReplicaRecord, 'id' | 'endpoint' | 'workspace'>;
    const rendered = JSON.parse(annotations[APPLIED] ?? '') as Partial<RenderedDeployment>;
    if (id === undefined || endpoint === undefined || workspace === undefined) return null;
    if (rendered.metadata === undefined || rendered.spec === undefined) return null;
    const { metadata, spec } = rendered;
    return {
      record: { ...rest, id, endpoint, workspace },
      progress: JSON.parse(annotations[PROGRESS] ?? '') as ReplicaProgress,
      rendered: { metadata, spec },
    };
  } catch {
    return null;
  }
}
