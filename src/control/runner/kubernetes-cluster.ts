/** Where in Kubernetes replicas run, and what their pods have in common. */
export interface KubernetesSettings {
  /** Null: the service account of the pod, else KUBECONFIG, else the file in the home folder. */
  readonly kubeconfig: string | null;
  /** Null: the current one. */
  readonly context: string | null;
  /** Null: that of the context, or of the pod. */
  readonly namespace: string | null;
  /** The resource name of whole GPUs. */
  readonly gpuResource: string;
  /** The resource name of shares of a GPU; null: shares are refused. */
  readonly sharedGpuResource: string | null;
  readonly imagePullSecrets: readonly string[];
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Toleration[];
  readonly serviceAccount: string | null;
  /** The volume claim that models are downloaded to; null: to the pod, again with each replica. */
  readonly modelCache: string | null;
  /** Nodes are added when pods wait: a replica that fits no node is not refused. */
  readonly addsNodes: boolean;
  /** Whether endpoints may patch their manifests. A patch can mount the host and run any image. */
  readonly allowsEndpointPatches: boolean;
  /** Pods run as this user and not as root; null: as the image says. */
  readonly runAsUser: number | null;
}

/** As in a pod of Kubernetes. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: 'Exists' | 'Equal';
  readonly value?: string;
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}
