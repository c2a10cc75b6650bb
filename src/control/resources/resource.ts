export const API_VERSION = 'twinyard/v1';
export const DEFAULT_WORKSPACE = 'default';

/** Shown in place of a secret. Applied again, it means: unchanged. */
export const HIDDEN = '***';

/** Optional fields are set by the store. Times are ISO 8601. */
export interface Metadata {
  readonly name: string;
  /** Absent for kinds that belong to no workspace. */
  readonly workspace?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly uid?: string;
  /** Grows with every change of the spec. */
  readonly generation?: number;
  /** Grows with every change of anything in the store. */
  readonly resource_version?: number;
  readonly created_at?: string;
  readonly updated_at?: string;
  /** Set when it is deleted; it exists until the reconciler has removed what belongs to it. */
  readonly deleted_at?: string;
}

export interface Condition {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
  readonly since: string;
}

/** The observed state, written by the reconciler. */
export interface Status {
  readonly phase: string;
  readonly message: string;
  /** The generation that was observed. */
  readonly observed_generation: number;
  readonly conditions: readonly Condition[];
  readonly [more: string]: unknown;
}

/** Desired state and status. Complete: omitted fields have their defaults. */
export interface Resource<Spec = Record<string, unknown>> {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: Spec;
  readonly status?: Status;
}
