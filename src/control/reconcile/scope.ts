/** Which resources this process reconciles, among the control planes of a store. It may change at any time. */
export interface Scope {
  /** Whether it reconciles what belongs to no host. */
  isLeader(): boolean;
  /** Whether it starts and stops the replicas of a cluster. */
  isHere(cluster: string): boolean;
  /** Whether it reaches replicas that listen on loopback of the local cluster's host. */
  sharesLoopback(): boolean;
  /** Why changes of a cluster's endpoints are not carried out now, if this process has to report it; else null. */
  hostProblem(cluster: string): string | null;
}

/** The scope of the only control plane of a store. */
export const WHOLE_SCOPE: Scope = {
  isLeader: () => true,
  isHere: () => true,
  sharesLoopback: () => true,
  hostProblem: () => null,
};
