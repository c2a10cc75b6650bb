import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replacePrivateFile } from '../../../files/replace-file.js';
import type { GpuShare, ReplicaExit, ReplicaResources } from '../contract.js';
import type { ProcessIdentity } from './process/process-table.js';

/** The folder a replica is started in, below its own. */
export const WORK = 'work';
const STATE = 'state.json';

const VERSION = 1;

/**
 * What a later control plane needs to know of a replica. It holds no secrets: neither the command nor the environment.
 */
export interface ReplicaRecord {
  readonly id: string;
  readonly workspace: string;
  readonly endpoint: string;
  readonly generation: number;
  readonly specHash: string;
  /**
   * `starting`: the process exists and may not have become the engine yet. `started`: it has. `stopping`: it was
   * signalled to end.
   * `exited`: it has ended. Only a replica that has `started` is adopted.
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

/** Replaces the record of a replica atomically. */
export function writeRecord(folder: string, record: ReplicaRecord): void {
  replacePrivateFile(join(folder, STATE), `${JSON.stringify({ version: VERSION, ...record })}\n`);
}

/** The record of a replica; null when there is none, or none that can be read. */
export function readRecord(folder: string): ReplicaRecord | null {
  try {
    const { version, ...record } = JSON.parse(readFileSync(join(folder, STATE), 'utf8')) as WrittenRecord;
    return version === VERSION && typeof record.process.pid === 'number' ? record : null;
  } catch {
    return null;
  }
}
