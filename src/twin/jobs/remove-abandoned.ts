import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The folder of a job, with the id of its process. */
const OF_JOB = /^twinyard-twin-(\d+)-/;
/** Processes of other containers may share the folder, with ids that mean nothing here: their jobs are left time to end. */
const LEAST_AGE_MS = 6 * 3_600_000;

/**
 * Removes what jobs of killed processes left in a folder of temporary files: copies of traffic. Anyone may create files there: only
 * folders of this user that no other user can write are removed.
 */
export async function removeAbandoned(folder: string, nowMs: number): Promise<void> {
  const sinceMs = nowMs - process.uptime() * 1000;
  for (const name of await readdir(folder)) {
    const pid = Number(OF_JOB.exec(name)?.[1]);
    if (Number.isNaN(pid)) continue;
    const path = join(folder, name);
    try {
      const found = await lstat(path);
      const isOurs = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o777) === 0o700;
      const isOwn = pid === process.pid && found.mtimeMs > sinceMs;
      if (!isOurs || nowMs - found.mtimeMs < LEAST_AGE_MS || isOwn) continue;
      if (pid === process.pid || !isRunning(pid)) await rm(path, { recursive: true, force: true });
    } catch {
      // Another process removes it.
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
