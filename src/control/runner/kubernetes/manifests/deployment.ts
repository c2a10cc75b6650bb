import type { KubeObject, Pod } from '../../../../kube/kube-object.js';

/** What is read of a Deployment. */
export interface Deployment extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly conditions?: readonly KubeCondition[];
  };
}

/** A Deployment as it is applied, but for what changes during the life of its replica. */
export interface RenderedDeployment {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface KubeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** A pod of a replica, with what tells how it is. */
export interface ReplicaPod extends Pod {
  readonly spec: Pod['spec'] & { readonly nodeName?: string };
  readonly status?: NonNullable<Pod['status']> & {
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly KubeCondition[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly restartCount?: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: TerminatedContainer;
}

export interface TerminatedContainer {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly finishedAt?: string;
}
