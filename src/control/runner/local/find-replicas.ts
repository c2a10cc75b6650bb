import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { leftProcesses, unkeptRecord } from '../errors.js';
import { allProcesses, isRunning } from './process-table.js';
import { ReplicaLog } from './replica-log.js';
import { send } from './replica-process.js';
import { type ReplicaRecord, readRecord, writeRecord } from './replica-record.js';

/** A replica that an earlier control plane left. */
export interface FoundReplica {
  readonly folder: string;
  readonly record: ReplicaRecord;
  /** Else it has exited. */
  readonly isRunning: boolean;
}

interface FindOptions {
  readonly killWaitMs: number;
  readonly onFault: (error: Error) => void;
}

const LOOK_MS = 10;
const LAST_LINES = 20;

/**
 * Finds what earlier control planes left in a folder of replicas, however they ended. Who was started and runs is kept; who
 * has exited meanwhile is told so; everything else that runs from this folder is ended: who was only half started, who was
 * being stopped, and whom nobody knows.
 */
export async function findReplicas(replicas: string, options: FindOptions): Promise<FoundReplica[]> {
  const found: FoundReplica[] = [];
  const useless: string[] = [];
  for (const name of readdirSync(replicas).sort()) {
    const folder = join(replicas, name);
    const record = readRecord(folder);
    if (record === null || !isWorthKeeping(record)) useless.push(folder);
    else if (record.step === 'exited') found.push({ folder, record, isRunning: false });
    else if (isRunning(record.process)) found.push({ folder, record, isRunning: true });
    else found.push({ folder, record: await unseen(record, folder, options), isRunning: false });
  }
  const running = new Set(found.filter((one) => one.isRunning).map(({ folder }) => folder));
  const halfDone = useless.map(readRecord).filter((record) => record !== null);
  await endOthers(replicas, running, halfDone, options);
  for (const folder of useless) rmSync(folder, { recursive: true, force: true });
  return found;
}

/** One that was stopped should have been removed; nobody waits for it. */
function isWorthKeeping({ exit, step }: ReplicaRecord): boolean {
  return step === 'started' || (step === 'exited' && exit?.reason !== 'stopped');
}

/** How it ended nobody knows; what it said last may tell. */
async function unseen(record: ReplicaRecord, folder: string, { onFault }: FindOptions): Promise<ReplicaRecord> {
  const lastLines = await new ReplicaLog(folder, 0).last(LAST_LINES).catch(() => []);
  const exit = { reason: 'unseen' as const, code: null, signal: null, at: Date.now(), lastLines };
  const told: ReplicaRecord = { ...record, step: 'exited', exit };
  try {
    writeRecord(folder, told);
  } catch (error) {
    onFault(unkeptRecord(record.id, error));
  }
  return told;
}

async function endOthers(
  replicas: string,
  running: ReadonlySet<string>,
  halfDone: readonly ReplicaRecord[],
  { killWaitMs, onFault }: FindOptions,
): Promise<void> {
  const isOther = (folder: string) => dirname(folder) === replicas && !running.has(folder);
  for (const until = Date.now() + killWaitMs; ; await delay(LOOK_MS)) {
    const leaders = halfDone.map((record) => record.process).filter(isRunning);
    for (const { pid } of leaders) send(-pid, 'SIGKILL');
    const marked = (await allProcesses()).filter(({ folders }) => folders.some(isOther));
    for (const { pid } of marked) send(pid, 'SIGKILL');
    if (leaders.length === 0 && marked.length === 0) return;
    if (Date.now() > until) {
      onFault(leftProcesses(marked.map(({ pid }) => pid)));
      return;
    }
  }
}
