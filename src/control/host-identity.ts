import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { replacePrivateFile } from '../files/replace-file.js';

/** A control plane among those of a store. */
export interface HostIdentity {
  /** Of its data folder: the same after a restart. */
  readonly id: string;
  /** Host and folder, for messages. */
  readonly place: string;
  /** Of the machine, another one after it was booted again. */
  readonly boot: string;
  /** Equal for two processes that reach each other's loopback addresses. */
  readonly network: string;
}

/** The identity of a data folder, created with the first call. The caller must have locked the folder. */
export function hostIdentity(dataDir: string): HostIdentity {
  const id = idIn(join(dataDir, 'control-id'));
  return { id, place: `${hostname()}:${dataDir}`, boot: thisBoot(), network: thisNetwork() };
}

function idIn(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  replacePrivateFile(path, `${randomUUID()}\n`);
  return idIn(path);
}

function thisBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** Containers of one machine share its boot id, but not its network. */
function thisNetwork(): string {
  try {
    return `${thisBoot()} ${readlinkSync('/proc/self/ns/net')}`;
  } catch {
    return hostname();
  }
}
