import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { leftProcesses, unwrittenRecord } from '../errors.js';
import { ReplicaLog } from './log/replica-log.js';
import type { Scrub } from './log/shown-line.js';
import { allProcesses, isRunning } from './process/process-table.js';
import { sendSignal } from './process/replica-process.js';
import { type ReplicaRecord, readRecord, writeRecord } from './replica-record.js';

/** A replica of an earlier control plane. */
export interface FoundReplica {
  readonly folder: string;
  readonly record: ReplicaRecord;
  /** False: it has exited. */
  readonly isRunning: boolean;
}

interface FindOptions {
  readonly killWaitMs: number;
  readonly onFault: (error: Error) => void;
  readonly scrub: Scrub;
}

const POLL_MS = 10;
const LAST_LINES = 20;

/**
 * Finds the replicas of earlier control planes in a folder, for any way those ended. Replicas that run are adopted; replicas that
 * ended meanwhile are reported as exited; every other process that runs from this folder is killed: half-started replicas,
 * replicas that were being stopped, and processes without a record.
 */
export async function findReplicas(replicas: string, options: FindOptions): Promise<FoundReplica[]> {
  const found: FoundReplica[] = [];
  const discarded: string[] = [];
  for (const name of readdirSync(replicas).sort()) {
    const folder = join(replicas, name);
    const record = readRecord(folder);
    if (record === null || !isAdopted(record)) discarded.push(folder);
    else if (record.step === 'exited') found.push({ folder, record, isRunning: false });
    else if (isRunning(record.process)) found.push({ folder, record, isRunning: true });
    else found.push({ folder, record: await unseen(record, folder, options), isRunning: false });
  }
  const running = new Set(found.filter((one) => one.isRunning).map(({ folder }) => folder));
  const unfinished = discarded.map(readRecord).filter((record) => record !== null);
  await killOthers(replicas, running, unfinished, options);
  for (const folder of discarded) rmSync(folder, { recursive: true, force: true });
  return found;
}

/** A stopped replica should have been removed already. */
function isAdopted({ exit, step }: ReplicaRecord): boolean {
  return step === 'started' || (step === 'exited' && exit?.reason !== 'stopped');
}

/** How it ended is not known; its last lines may show it. */
async function unseen(record: ReplicaRecord, folder: string, { onFault, scrub }: FindOptions): Promise<ReplicaRecord> {
  const lastLines = await new ReplicaLog(folder, 0, scrub).last(LAST_LINES).catch(() => []);
  const exit = { reason: 'unseen' as const, code: null, signal: null, detail: null, at: Date.now(), lastLines };
  const exited: ReplicaRecord = { ...record, step: 'exited', exit };
  try {
    writeRecord(folder, exited);
  } catch (error) {
    onFault(unwrittenRecord(record.id, error));
  }
  return exited;
}

async function killOthers(
  replicas: string,
  running: ReadonlySet<string>,
  unfinished: readonly ReplicaRecord[],
  { killWaitMs, onFault }: FindOptions,
): Promise<void> {
  const isOther = (folder: string) => dirname(folder) === replicas && !running.has(folder);
  for (const until = Date.now() + killWaitMs; ; await delay(POLL_MS)) {
    const leaders = unfinished.map((record) => record.process).filter(isRunning);
    for (const { pid } of leaders) sendSignal(-pid, 'SIGKILL');
    const marked = (await allProcesses()).filter(({ folders }) => folders.some(isOther));
    for (const { pid } of marked) sendSignal(pid, 'SIGKILL');
    if (leaders.length === 0 && marked.length === 0) return;
    if (Date.now() > until) {
      onFault(leftProcesses(marked.map(({ pid }) => pid)));
      return;
    }
  }
}
