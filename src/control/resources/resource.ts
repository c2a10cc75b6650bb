export const API_VERSION = 'twinyard/v1';
export const DEFAULT_WORKSPACE = 'default';

/** What stands for a secret wherever a resource is shown. Written back, it means: as it was. */
export const HIDDEN = '***';

/** What something is called; those with a `?` are the store's to say. Times are ISO 8601. */
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
  /** Set once it has been deleted: it is there until what it stands for has been taken down. */
  readonly deleted_at?: string;
}

export interface Condition {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
  readonly since: string;
}

/** How things are, as whoever keeps the resource true last saw them. */
export interface Status {
  readonly phase: string;
  readonly message: string;
  /** The generation this was said of. */
  readonly observed_generation: number;
  readonly conditions: readonly Condition[];
  readonly [more: string]: unknown;
}

/** What somebody wants, and how it is. Complete: what was left out has its default. */
export interface Resource<Spec = Record<string, unknown>> {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: Spec;
  readonly status?: Status;
}
