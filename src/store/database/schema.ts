import type { ColumnType } from 'kysely';

/**
 * The tables after the last migration. Times are milliseconds since 1970, days are UTC and written YYYY-MM-DD, money is
 * whole nano-dollars, and values that no query looks into are JSON.
 */
export interface StoreTables {
  usage: UsageTableRow;
  folded_journals: { id: string; folded_at: number };
  settings: { name: string; value: string };
  quota_accounts: { account: string; state: string; updated_at: number };
  resources: ResourceRow;
  resource_events: ResourceEventRow;
  audit_log: AuditRow;
  resource_revisions: RevisionRow;
  requests: RequestRow;
  request_decisions: { ended_at: number; gateway: string; number: number; explanation: string };
  lab_results: LabResultRow;
  gateways: { id: string; started_at: number; seen_at: number; mode: string };
  twinyard_migrations: { number: number; name: string; applied_at: number };
}

/** Written once, when the row is inserted. */
type Fixed<Value> = ColumnType<Value, Value, never>;

export interface UsageTableRow {
  key_id: string;
  model: string;
  endpoint: string;
  day: string;
  outcome: string;
  requests: number;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  estimated_requests: number;
  cost_nanos: number;
  characters: number;
  audio_seconds: number;
}

export interface ResourceRow {
  kind: Fixed<string>;
  /** Empty for kinds that belong to no workspace. */
  workspace: Fixed<string>;
  name: Fixed<string>;
  uid: Fixed<string>;
  /** Grows with each change of the spec. */
  generation: number;
  /** Versions of the last change of any part, and of the last change apart from the status. */
  resource_version: number;
  spec_version: number;
  /** JSON, with sealed secrets. */
  spec: string;
  status: string | null;
  /** JSON that no response ever holds, such as the hash of a key's secret. */
  private_state: string | null;
  labels: string;
  created_at: Fixed<number>;
  updated_at: number;
  deleted_at: number | null;
}

export interface ResourceEventRow {
  id: number;
  uid: string;
  kind: string;
  workspace: string;
  name: string;
  type: string;
  reason: string;
  message: string;
  /** How often it happened in a row, or alternating with a few others. */
  count: number;
  first_at: number;
  last_at: number;
}

export interface RevisionRow {
  uid: string;
  generation: number;
  /** The resource version of the change. */
  version: number;
  at: number;
  /** JSON, with sealed secrets. */
  spec: string;
}

export interface RequestRow {
  /** Microseconds since 1970. With the gateway's run and its number there, the place in lists. */
  ended_at: number;
  gateway: string;
  number: number;
  id: string;
  workspace: string;
  endpoint: string;
  model: string;
  /** Empty without one, and so is the replica. */
  key_id: string;
  slo_class: string;
  replica: string;
  outcome: string;
  /** -1 without a first token. */
  ttft_us: number;
  duration_us: number;
  /** By the time to the first token, from 0 on. */
  slow: number;
  /** JSON of what no filter looks into. */
  facts: string;
}

export interface LabResultRow {
  id: string;
  workspace: string;
  name: string;
  saved_at: number;
  saved_by: string;
  /** JSON of what lists show. */
  facts: string;
  /** JSON, packed by gzip, in base64. */
  result: string;
}

export interface AuditRow {
  /** The resource version of the change. */
  version: number;
  at: number;
  actor: string;
  action: string;
  kind: string;
  workspace: string;
  name: string;
  uid: string;
  /** JSON of spec and labels, without secrets. */
  before: string | null;
  after: string | null;
}
