import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of a job, with the id of its process. */
const OF_JOB = /^twinyard-twin-(\d+)-/;
/** Processes of other containers may share the folder, with ids that mean nothing here: their jobs are left time to end. */
const LEAST_AGE_MS = 6 * 3_600_000;

/** Removes what jobs of killed processes left in a folder of temporary files: copies of traffic. */
export function removeAbandoned(folder: string, nowMs: number): void {
  const sinceMs = nowMs - process.uptime() * 1000;
  for (const name of readdirSync(folder)) {
    const pid = Number(OF_JOB.exec(name)?.[1]);
    if (Number.isNaN(pid)) continue;
    const path = join(folder, name);
    try {
      const { mtimeMs } = statSync(path);
      const isOwn = pid === process.pid && mtimeMs > sinceMs;
      if (nowMs - mtimeMs < LEAST_AGE_MS || isOwn || (pid !== process.pid && isRunning(pid))) continue;
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Another process removes it, or it belongs to another user.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Not permitted: it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
