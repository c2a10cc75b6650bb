import type { StoreTables } from '../database/schema.js';

export const FORMAT = 'twinyard-backup-2';
/** Of versions before the first release. */
export const FORMER_FORMAT = 'twinyard-backup-1';

export interface BackupHeader {
  readonly format: typeof FORMAT;
  /** Number of migrations that its tables have been through. */
  readonly version: number;
}

/**
 * Settings that describe a running process, such as the holder of the control-plane lease: they do not belong in
 * another store.
 */
export const PASSING_SETTINGS: readonly string[] = ['control_plane', 'cluster_host'];

/**
 * Every table in a backup, with the columns of its primary key. The table of gateways is left out: gateways register
 * themselves. Requests that have ended are left out too: they pass within a day, and would be most of the backup.
 */
export const TABLES: readonly { readonly name: keyof StoreTables; readonly key: readonly string[] }[] = [
  { name: 'usage', key: ['key_id', 'day', 'model', 'endpoint', 'outcome'] },
  { name: 'folded_journals', key: ['id'] },
  { name: 'settings', key: ['name'] },
  { name: 'quota_accounts', key: ['account'] },
  { name: 'resources', key: ['kind', 'workspace', 'name'] },
  { name: 'resource_events', key: ['id'] },
  { name: 'audit_log', key: ['version'] },
  { name: 'resource_revisions', key: ['uid', 'generation'] },
  { name: 'lab_results', key: ['id'] },
];
