import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { allProcesses, currentBootId, identityOf, isRunning, parseStat } from './process-table.js';

describe('a process', () => {
  test('is identified by pid, start time and boot', async () => {
    const child = spawn('sleep', ['1000'], { detached: true });
    await once(child, 'spawn');
    const identity = identityOf(child.pid!)!;
    expect(identity).toMatchObject({ pid: child.pid, bootId: currentBootId() });
    expect(isRunning(identity)).toBe(true);
    // A later process may have the same pid, and after a restart of the machine the same start time.
    expect(isRunning({ ...identity, startTicks: identity.startTicks - 1 })).toBe(false);
    expect(isRunning({ ...identity, bootId: 'another' })).toBe(false);
    expect(await allProcesses()).toContainEqual({ pid: child.pid, group: child.pid, session: child.pid, folders: [] });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isRunning(identity)).toBe(false);
    expect(identityOf(child.pid!)).toBeNull();
  });

  test('may have any name', () => {
    const rest = '1 42 43 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 2998272 500';
    expect(parseStat(`7 (a) R (b) S ${rest}`)).toEqual({ isDead: false, group: 42, session: 43, startTicks: 987_654 });
    expect(parseStat(`7 (sh) Z ${rest}`).isDead).toBe(true);
  });

  test('of the test itself is not listed', async () => {
    expect((await allProcesses()).map(({ pid }) => pid)).not.toContain(process.pid);
  });
});
