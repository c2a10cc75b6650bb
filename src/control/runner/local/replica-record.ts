import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GpuShare, ReplicaExit, ReplicaResources } from '../contract.js';
import type { ProcessIdentity } from './process-table.js';

/** The files of a replica, in its folder. */
export const LOG = 'log';
export const WORK = 'work';
const STATE = 'state.json';

const VERSION = 1;

/**
 * What a later control plane has to know of a replica. There is nothing secret in it: the command and the environment are
 * not kept.
 */
export interface ReplicaRecord {
  readonly id: string;
  readonly workspace: string;
  readonly endpoint: string;
  readonly generation: number;
  readonly specHash: string;
  /**
   * `starting`: the process has been made but may not have been told to go on. `started`: it has. `stopping`: it was told to
   * end. `exited`: it has ended. Only one that has `started` is worth keeping.
   */
  readonly step: 'starting' | 'started' | 'stopping' | 'exited';
  readonly process: ProcessIdentity;
  readonly port: number;
  readonly healthPath: string;
  readonly startupTimeoutMs: number;
  readonly resources: ReplicaResources;
  readonly gpus: readonly GpuShare[];
  readonly startedAt: number;
  readonly readyAt: number | null;
  readonly exit: ReplicaExit | null;
}

type WrittenRecord = ReplicaRecord & { readonly version: number };

/** Replaces what is known of a replica, at once: whoever reads it sees what was or what is. */
export function writeRecord(folder: string, record: ReplicaRecord): void {
  const path = join(folder, STATE);
  writeFileSync(`${path}.new`, `${JSON.stringify({ version: VERSION, ...record })}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** What is known of a replica; null when that is nothing, or nothing that makes sense. */
export function readRecord(folder: string): ReplicaRecord | null {
  try {
    const { version, ...record } = JSON.parse(readFileSync(join(folder, STATE), 'utf8')) as WrittenRecord;
    return version === VERSION && typeof record.process.pid === 'number' ? record : null;
  } catch {
    return null;
  }
}
