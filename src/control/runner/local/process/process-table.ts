import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { LOG } from '../log/replica-log.js';
import { FOLDER_VARIABLE } from './replica-environment.js';

/** Identifies a process across reuse of its pid and across restarts of the machine. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time of the process in clock ticks since boot. */
  readonly startTicks: number;
  readonly bootId: string;
}

interface ProcessStat {
  readonly isDead: boolean;
  readonly group: number;
  readonly session: number;
  readonly startTicks: number;
}

export const currentBootId = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** The identity of a running process; null if there is none with this pid. */
export function identityOf(pid: number): ProcessIdentity | null {
  try {
    const stat = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    return stat.isDead ? null : { pid, startTicks: stat.startTicks, bootId: currentBootId() };
  } catch {
    return null;
  }
}

/** Whether a process is still running. A zombie is not. */
export function isRunning({ bootId, pid, startTicks }: ProcessIdentity): boolean {
  const now = identityOf(pid);
  return now !== null && now.startTicks === startTicks && now.bootId === bootId;
}

/** The name of a process may contain brackets and spaces: the fields begin after the last bracket. */
export function parseStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    isDead: 'ZXx'.includes(fields[0]!),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startTicks: Number(fields[19]),
  };
}

/** A running process, and the folders of the replicas that it may belong to. */
export interface FoundProcess {
  readonly pid: number;
  readonly group: number;
  readonly session: number;
  readonly folders: readonly string[];
}

/** Processes read before the event loop gets its turn: a millisecond's work. */
const AT_ONCE = 32;

/**
 * All processes of this machine that can be read. Engines are recognised by an environment variable, which their children
 * inherit, and by the file they write their output to: some overwrite their environment with a title for `ps`.
 */
export async function allProcesses(): Promise<FoundProcess[]> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const found: FoundProcess[] = [];
  for (const [i, pid] of pids.entries()) {
    if (i % AT_ONCE === AT_ONCE - 1) await setImmediate();
    const one = lookAt(Number(pid));
    if (one !== null) found.push(one);
  }
  return found;
}

function lookAt(pid: number): FoundProcess | null {
  const text = orEmpty(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (text === '') return null;
  const { group, isDead, session } = parseStat(text);
  if (isDead) return null;
  const outputs = [1, 2].map((fd) => orEmpty(() => readlinkSync(`/proc/${pid}/fd/${fd}`)));
  const folders = outputs.filter((path) => basename(path) === LOG).map((path) => dirname(path));
  for (const variable of orEmpty(() => readFileSync(`/proc/${pid}/environ`, 'utf8')).split('\0')) {
    if (variable.startsWith(`${FOLDER_VARIABLE}=`)) folders.push(variable.slice(FOLDER_VARIABLE.length + 1));
  }
  return { pid, group, session, folders };
}

/** A process may end before it is read, or belong to another user. */
function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
