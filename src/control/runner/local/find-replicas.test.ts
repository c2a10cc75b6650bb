import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ReplicaHandle } from '../contract.js';
import { fakeSpec } from '../fake-engine.fixture.js';
import { LocalGround } from './local-ground.fixture.js';
import { LocalRunner } from './local-runner.js';
import { launch } from './process/launch.js';
import { FOLDER_VARIABLE } from './process/replica-environment.js';
import { type ReplicaRecord, readRecord, writeRecord } from './replica-record.js';

let ground: LocalGround;
let folder: string;
beforeEach(() => {
  ground = new LocalGround();
  folder = join(ground.replicas, 'a');
});
afterEach(() => ground.clear());

/** Three processes, one of them in its own session. */
const THREE = { command: 'sh', args: ['-c', 'echo listening; setsid sleep 1000 & sleep 1000 & wait'] };

/** A replica of a control plane that has been closed. */
async function left(): Promise<ReplicaHandle> {
  const runner = await ground.open();
  const handle = await runner.start(fakeSpec('a', {}, THREE));
  while ((await ground.processes()) < 3);
  await runner.close();
  return handle;
}

/** The same of an engine that was ready, and is unready. */
async function leftUnready(): Promise<void> {
  const runner = await ground.open();
  const ready = new Promise<ReplicaHandle>((resolve) => {
    runner.watch(({ replica, type }) => type === 'ready' && resolve(replica));
  });
  await runner.start(fakeSpec('a'));
  await fetch(`${(await ready).url}/unready`);
  await runner.close();
}

/** The replicas that the next control plane finds. */
async function found(): Promise<ReplicaHandle[]> {
  const runner = await ground.open();
  const list = await runner.list();
  await runner.close();
  return list;
}

const change = (changes: Partial<ReplicaRecord>) => writeRecord(folder, { ...readRecord(folder)!, ...changes });

describe('replicas of an earlier control plane', () => {
  test.each(['starting', 'stopping'] as const)('kills a replica that was %s', async (step) => {
    await left();
    change({ step });
    expect(await found()).toEqual([]);
    expect(await ground.processes()).toBe(0);
    expect(readdirSync(ground.replicas)).toEqual([]);
  });

  test('removes a replica that was stopped and not yet removed', async () => {
    await left();
    change({ step: 'exited', exit: { reason: 'stopped', code: 0, signal: null, detail: null, at: 0, lastLines: [] } });
    expect(await found()).toEqual([]);
    expect(await ground.processes()).toBe(0);
  });

  test('neither adopts nor kills another process with the pid of a replica', async () => {
    await left();
    const pid = ground.pidOf('a');
    const stranger = spawn('sleep', ['1000'], { detached: true });
    await once(stranger, 'spawn');
    const { process: own } = readRecord(folder)!;
    change({ process: { ...own, pid: stranger.pid! } });
    const [a] = await found();
    expect(a).toMatchObject({ phase: 'exited', exit: { reason: 'unseen', code: null, lastLines: ['listening'] } });
    // The engine itself is recognised by its environment, though its pid was changed.
    expect(await ground.processes()).toBe(0);
    expect(() => process.kill(pid, 0)).toThrow();
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    expect(await found()).toEqual([a]);
    stranger.kill('SIGKILL');
    await once(stranger, 'exit');
  });

  test('reports a replica from before a restart of the machine as exited', async () => {
    await left();
    const { process: own } = readRecord(folder)!;
    change({ process: { ...own, bootId: 'another' } });
    expect(await found()).toMatchObject([{ exit: { reason: 'unseen' } }]);
  });

  test('reports an exit even if neither the log can be read nor the state written', async () => {
    await left();
    process.kill(-ground.pidOf('a'), 'SIGKILL');
    while ((await ground.processes()) > 1);
    rmSync(join(folder, 'log'));
    mkdirSync(join(folder, 'log'));
    mkdirSync(join(folder, `.state.json.${process.pid}.tmp`));
    expect(await found()).toMatchObject([{ exit: { reason: 'unseen', lastLines: [] } }]);
    expect(ground.faults.map(({ message }) => message)).toEqual([
      "replica 'a': its state cannot be written (is a folder)",
    ]);
  });

  test.each([
    ['is damaged', '{"version":1,"id":'],
    ['is of another version', '{"version":99,"process":{"pid":1}}'],
    ['is incomplete', '{"version":1,"process":{}}'],
  ])('kills a replica whose state %s', async (_, text) => {
    await left();
    writeFileSync(join(folder, 'state.json'), text);
    expect(await found()).toEqual([]);
    expect(await ground.processes()).toBe(0);
  });

  test('kills processes whose folder does not exist any more', async () => {
    await left();
    rmSync(folder, { recursive: true });
    expect(await ground.processes()).toBe(3);
    expect(await found()).toEqual([]);
    expect(await ground.processes()).toBe(0);
  });

  test('reports processes that cannot be killed, and continues', async () => {
    await left();
    rmSync(folder, { recursive: true });
    const hung = vi.spyOn(process, 'kill').mockReturnValue(true);
    const runner = await ground.open({ killWaitMs: 0 });
    hung.mockRestore();
    await runner.close();
    expect(ground.faults.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^processes of removed replicas are still running: \d+, \d+, \d+$/),
    ]);
  });

  test('adopts a running replica that fails its health check as unready', async () => {
    await leftUnready();
    expect(await found()).toMatchObject([{ phase: 'unready', exit: null }]);
    expect(await ground.processes()).toBe(1);
  });

  test('ends a replica whose start-up time is over', async () => {
    await leftUnready();
    change({ readyAt: null, startedAt: 0 });
    const runner = await ground.open();
    const exited = new Promise<ReplicaHandle>((resolve) => {
      runner.watch(({ replica, type }) => type === 'exited' && resolve(replica));
    });
    expect((await exited).exit).toMatchObject({ reason: 'startup-timeout', code: null, signal: null });
    expect((await runner.stop('a', { graceMs: 0 }))!.reason).toBe('startup-timeout');
    await runner.close();
  });
});

describe('a folder', () => {
  test('is used by one control plane at a time', async () => {
    const first = await ground.open();
    await expect(ground.open()).rejects.toMatchObject({ code: 'RUNNER_IN_USE' });
    await first.close();
    await (await ground.open()).close();
  });

  test('must be writable', async () => {
    const file = join(ground.folder, 'file');
    writeFileSync(file, '');
    await expect(LocalRunner.open({ folder: file })).rejects.toMatchObject({
      code: 'RUNNER_FOLDER',
      message: expect.stringContaining('is not a folder'),
    });
    // Folders are created level by level: with `recursive`, Node would never return here.
    await expect(LocalRunner.open({ folder: '/proc/twinyard' })).rejects.toMatchObject({
      code: 'RUNNER_FOLDER',
      message: expect.stringContaining('no such folder'),
    });
  });

  test('is unlocked when the runner cannot be opened', async () => {
    await left();
    rmSync(folder, { recursive: true });
    const hung = vi.spyOn(process, 'kill').mockReturnValue(true);
    const onFault = (error: Error) => {
      throw error;
    };
    await expect(ground.open({ killWaitMs: 0, onFault })).rejects.toThrow('still running');
    hung.mockRestore();
    expect(await found()).toEqual([]);
  });

  test('needs Linux', async () => {
    const { platform } = process;
    Object.defineProperty(process, 'platform', { value: 'plan9' });
    try {
      await expect(ground.open()).rejects.toMatchObject({ code: 'RUNNER_PLATFORM' });
    } finally {
      Object.defineProperty(process, 'platform', { value: platform });
    }
  });
});

describe('a launched process', () => {
  const launched = () => {
    mkdirSync(folder, { recursive: true });
    return launch({
      ...{ id: 'a', program: '/bin/sh', args: ['-c', 'echo said'], memoryBytes: null },
      ...{ user: null, env: { [FOLDER_VARIABLE]: folder }, workingFolder: folder, logPath: join(folder, 'log') },
    });
  };

  test('does nothing before it is released', async () => {
    const waiting = await launched();
    expect(await ground.processes()).toBe(1);
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('');
    waiting.release();
    expect(await once(waiting.child, 'exit')).toEqual([0, null]);
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('said\n');
  });

  test('ends if it is abandoned', async () => {
    const waiting = await launched();
    waiting.abandon();
    expect(await once(waiting.child, 'exit')).toEqual([125, null]);
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('');
  });

  test('that was never recorded is killed by the next control plane', async () => {
    const waiting = await launched();
    expect(await found()).toEqual([]);
    expect(await ground.processes()).toBe(0);
    expect(waiting.child.signalCode ?? (await once(waiting.child, 'exit'))[1]).toBe('SIGKILL');
  });
});
