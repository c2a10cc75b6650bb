import type { ClusterSettings, ReplicaUser, Runner } from './contract.js';

/** What a runner needs from the control plane that opens it. */
export interface RunnerOptions {
  /** The name of the Cluster. */
  readonly cluster: string;
  /** Its UID: a Cluster of the same name in another store has another one. */
  readonly clusterUid?: string | undefined;
  readonly settings: ClusterSettings;
  /** A folder for the state of the runner. */
  readonly folder: string;
  /** Replicas on this machine run as this user; null: as that of the control plane. */
  readonly user: ReplicaUser | null;
  /** Removes known secrets from a line of a log. */
  readonly scrub: (line: string) => string;
  /** Called with problems that do not stop the runner. */
  readonly onFault: (error: Error) => void;
  /** Whether it may change the cluster now: another control plane may lead. Read before each change. */
  readonly mayAct: () => boolean;
}

/** A way to run replicas: a Cluster names one as its `type`. */
export interface RunnerType {
  readonly name: string;
  readonly summary: string;
  /** The one cluster of this type, which exists without being applied; null when clusters of this type are declared. */
  readonly builtInCluster: string | null;
  /** Replicas run on this machine: they can load models from its cache and run this very program. */
  readonly runsHere: boolean;
  /** Replicas are pods: images, pod templates and patches are part of what they run. */
  readonly runsPods?: boolean;
  /** Whether changed settings name another cluster, so that a runner has to be opened again. */
  isElsewhere?(before: ClusterSettings, after: ClusterSettings): boolean;
  /** Loads the code of the runner only now: a control plane opens few of them. */
  open(options: RunnerOptions): Promise<Runner>;
}
