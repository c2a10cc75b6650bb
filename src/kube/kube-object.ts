/** What all objects of the Kubernetes API have, and what we read of those that we use. */
export interface KubeObject {
  readonly metadata: ObjectMeta;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
  readonly creationTimestamp?: string;
  /** Set while it is being deleted. */
  readonly deletionTimestamp?: string;
}

export interface KubeList<T> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly T[] | null;
}

export interface Pod extends KubeObject {
  readonly spec: {
    readonly containers: readonly {
      readonly name: string;
      readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
      readonly command?: readonly string[];
      readonly args?: readonly string[];
      readonly resources?: { readonly limits?: Readonly<Record<string, string | number>> };
    }[];
    readonly nodeSelector?: Readonly<Record<string, string>>;
  };
  readonly status?: {
    readonly podIP?: string;
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export interface EndpointSlice extends KubeObject {
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN';
  readonly endpoints: readonly SliceEndpoint[] | null;
  readonly ports?: readonly { readonly name?: string | null; readonly port?: number | null }[] | null;
}

export interface SliceEndpoint {
  readonly addresses: readonly string[];
  readonly conditions?: {
    readonly ready?: boolean | null;
    readonly serving?: boolean | null;
    readonly terminating?: boolean | null;
  };
  readonly targetRef?: { readonly kind?: string; readonly name?: string };
}

export interface InferencePool extends KubeObject {
  readonly spec: {
    readonly selector: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly targetPorts: readonly { readonly number: number }[];
  };
}
