import type { ClusterCalls } from './cluster-calls.js';
import type { ReplicaPod } from './manifests/deployment.js';

export interface TerminationParts {
  readonly calls: ClusterCalls;
  readonly onFault: (error: Error) => void;
}

/** How long the controllers of Kubernetes may take to delete the pod of a Deployment that was scaled to 0. */
const CONTROLLERS_MS = 5000;

/**
 * Ends the pod of a replica within its grace time. The controllers delete it after its Deployment was scaled to 0, and the
 * grace time is shortened then: for a pod that goes earlier, a ReplicaSet that still wants one starts another.
 */
export class PodTermination {
  /** The end of the grace time, in milliseconds since 1970. */
  by = Number.POSITIVE_INFINITY;
  /** The Deployment wants no pod. */
  isScaledDown = false;
  readonly #parts: TerminationParts;
  /** The grace time that the pod has been given, by its end. */
  #given = Number.POSITIVE_INFINITY;
  #pod = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: TerminationParts) {
    this.#parts = parts;
  }

  /** Called with each state of the pod after the replica began to end. */
  see(pod: ReplicaPod): void {
    if (!this.isScaledDown) return;
    const { deletionTimestamp, uid = '' } = pod.metadata;
    if (uid !== this.#pod) this.#given = Number.POSITIVE_INFINITY;
    this.#pod = uid;
    if (deletionTimestamp !== undefined) void this.#delete(pod);
    // The controllers may be away: then nothing starts another pod either.
    else this.#timer ??= setTimeout(() => void this.#delete(pod), CONTROLLERS_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  async #delete({ metadata }: ReplicaPod): Promise<void> {
    this.close();
    if (this.by >= this.#given) return;
    this.#given = this.by;
    const { calls, onFault } = this.#parts;
    await calls.deletePod(metadata.name, metadata.uid!, Math.max(0, this.by - Date.now())).catch((error: Error) => {
      // The next stop tries again.
      this.by = Number.POSITIVE_INFINITY;
      this.#given = Number.POSITIVE_INFINITY;
      onFault(error);
    });
  }
}
