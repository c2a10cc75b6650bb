import * as v from 'valibot';
import { section } from '../schema/fields.js';

/** What responses hold besides resources. OpenAPI names each schema by its title. */

const string = v.string();
const number = v.number();
const nullable = <S extends v.GenericSchema>(schema: S) => v.nullable(schema);
/** Data whose form another part of the program defines. */
const plain = v.record(v.string(), v.unknown());

export const REPLICA = section('Replica', {
  workspace: string,
  endpoint: string,
  id: string,
  url: string,
  engine: string,
  state: v.picklist(['starting', 'ready', 'unready', 'draining']),
  problem: string,
  /** It gets no new requests and is removed when its last one has ended. */
  leaving: v.boolean(),
  breaker: v.picklist(['open', 'closed']),
  models: v.array(string),
  in_flight: number,
  active: number,
  signals: nullable(plain),
});

export const LIVE_ENDPOINT = section('LiveEndpoint', {
  workspace: string,
  name: string,
  source: v.picklist(['file', 'control-plane']),
  models: v.array(string),
  policy: plain,
  policy_hash: string,
  in_flight: number,
  queued: v.record(v.string(), number),
  replicas: v.array(string),
  warnings: v.optional(v.array(string)),
});

export const POLICY_VERSION = section('PolicyVersion', { policy: plain, policy_hash: string, age_s: number });

export const REMOVED_REPLICA = section('RemovedReplica', { status: v.literal('leaving'), active: number });

export const DECISION = v.pipe(v.record(v.string(), v.unknown()), v.metadata({ title: 'Decision' }));

export const CONFIGURATION = v.pipe(v.record(v.string(), v.unknown()), v.metadata({ title: 'Configuration' }));

export const RELOADED = section('Reloaded', { status: v.literal('reloaded'), needs_restart: v.array(string) });

export const KIND = section('Kind', {
  kind: string,
  plural: string,
  short_names: v.array(string),
  scope: v.picklist(['global', 'workspace']),
  summary: string,
  changed_by: v.picklist(['viewer', 'operator', 'admin']),
});

export const APPLIED = section('Applied', {
  kind: v.literal('Applied'),
  dry_run: v.boolean(),
  text: string,
  items: v.array(v.strictObject({ action: string, differences: v.array(v.unknown()), resource: plain })),
});

export const EVENT = section('Event', {
  id: number,
  kind: string,
  workspace: v.optional(string),
  name: string,
  type: v.picklist(['normal', 'warning']),
  reason: string,
  message: string,
  count: number,
  first_at: string,
  last_at: string,
});

export const AUDIT_ENTRY = section('AuditEntry', {
  version: number,
  at: string,
  actor: string,
  action: string,
  kind: string,
  workspace: string,
  name: string,
  uid: string,
  before: nullable(plain),
  after: nullable(plain),
});

export const ISSUED_KEY = section('IssuedKey', {
  kind: v.literal('IssuedKey'),
  key_id: string,
  key: string,
  previous_until: nullable(string),
});

const limit = v.strictObject({ limit: number, used: number, left: number, reset_s: nullable(number) });

export const KEY_LIMITS = section('KeyLimits', {
  id: string,
  at: string,
  limits: v.record(v.string(), v.record(v.string(), limit)),
});

export const USAGE = v.pipe(v.record(v.string(), v.union([v.string(), v.number()])), v.metadata({ title: 'Usage' }));

export const MODEL_SUMMARY = section('ModelSummary', { name: string, versions: v.array(string) });

export const MODEL = v.pipe(v.record(v.string(), v.unknown()), v.metadata({ title: 'Model' }));
