import type { StoreTables } from '../database/schema.js';

export const FORMAT = 'twinyard-backup-1';

export interface BackupHeader {
  readonly format: typeof FORMAT;
  /** How many migrations its tables have been through. */
  readonly version: number;
}

/** Settings that say what a process is doing, which nobody does in another store: who keeps its resources true. */
export const PASSING_SETTINGS: readonly string[] = ['control_plane'];

/** Everything worth keeping, with the columns of its primary key. Gateways say themselves that they are there. */
export const TABLES: readonly { readonly name: keyof StoreTables; readonly key: readonly string[] }[] = [
  { name: 'api_keys', key: ['id'] },
  { name: 'usage', key: ['key_id', 'day', 'model', 'endpoint', 'outcome'] },
  { name: 'folded_journals', key: ['id'] },
  { name: 'settings', key: ['name'] },
  { name: 'quota_accounts', key: ['account'] },
  { name: 'resources', key: ['kind', 'workspace', 'name'] },
  { name: 'resource_events', key: ['id'] },
  { name: 'audit_log', key: ['version'] },
];
