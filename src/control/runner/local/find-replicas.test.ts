import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ReplicaHandle } from '../contract.js';
import { fakeSpec } from '../fake-engine.fixture.js';
import { FOLDER_VARIABLE } from './base-environment.js';
import { launch } from './launch.js';
import { LocalGround } from './local-ground.fixture.js';
import { LocalRunner } from './local-runner.js';
import { type ReplicaRecord, readRecord, writeRecord } from './replica-record.js';

let ground: LocalGround;
let folder: string;
beforeEach(() => {
  ground = new LocalGround();
  folder = join(ground.replicas, 'a');
});
afterEach(() => ground.clear());

/** Three processes, one of them in a session of its own; nobody asks how they are. */
const THREE = { command: 'sh', args: ['-c', 'echo listening; setsid sleep 1000 & sleep 1000 & wait'] };

/** A replica that is left by a control plane that was closed. */
async function left(): Promise<ReplicaHandle> {
  const runner = await ground.open();
  const handle = await runner.start(fakeSpec('a', {}, THREE));
  while ((await ground.processes()) < 3);
  await runner.close();
  return handle;
}

/** The same of an engine that was ready, and is no more. */
async function leftUnwell(): Promise<void> {
  const runner = await ground.open();
  const ready = new Promise<ReplicaHandle>((resolve) => {
    runner.watch(({ replica, type }) => type === 'ready' && resolve(replica));
  });
  await runner.start(fakeSpec('a'));
  await fetch(`${(await ready).url}/unready`);
  await runner.close();
}

/** What is found when a control plane is opened again. */
async function found(): Promise<ReplicaHandle[]> {
  const runner = await ground.open();
  const list = await runner.list();
  await runner.close();
  return list;
}

const change = (changes: Partial<ReplicaRecord>) => writeRecord(folder, { ...readRecord(folder)!, ...changes });

describe('of what an earlier control plane left', () => {
  test.each(['starting', 'stopping'] as const)('a replica that is %s is ended', async (step) => {
    await left();
    change({ step });
    expect(await found()).toEqual([]);
    expect(await ground.processes()).toBe(0);
    expect(readdirSync(ground.replicas)).toEqual([]);
  });

  test('a replica that was stopped and not yet removed is removed', async () => {
    await left();
    change({ step: 'exited', exit: { reason: 'stopped', code: 0, signal: null, at: 0, lastLines: [] } });
    expect(await found()).toEqual([]);
    expect(await ground.processes()).toBe(0);
  });

  test('a process with the number of a replica that is gone is not taken for it, nor ended', async () => {
    const { pid } = await left();
    const stranger = spawn('sleep', ['1000'], { detached: true });
    await once(stranger, 'spawn');
    const { process: own } = readRecord(folder)!;
    change({ process: { ...own, pid: stranger.pid! } });
    const [a] = await found();
    expect(a).toMatchObject({ phase: 'exited', exit: { reason: 'unseen', code: null, lastLines: ['listening'] } });
    // The engine itself is known by its mark, though its number was forged.
    expect(await ground.processes()).toBe(0);
    expect(() => process.kill(pid!, 0)).toThrow();
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    expect(await found()).toEqual([a]);
    stranger.kill('SIGKILL');
    await once(stranger, 'exit');
  });

  test('a replica from before the machine was restarted has exited', async () => {
    await left();
    const { process: own } = readRecord(folder)!;
    change({ process: { ...own, bootId: 'another' } });
    expect(await found()).toMatchObject([{ exit: { reason: 'unseen' } }]);
  });

  test('a replica whose log cannot be read, nor its state be written, has exited all the same', async () => {
    const { pid } = await left();
    process.kill(-pid!, 'SIGKILL');
    while ((await ground.processes()) > 1);
    rmSync(join(folder, 'log'));
    mkdirSync(join(folder, 'log'));
    mkdirSync(join(folder, 'state.json.new'));
    expect(await found()).toMatchObject([{ exit: { reason: 'unseen', lastLines: [] } }]);
    expect(ground.faults.map(({ message }) => message)).toEqual([
      "replica 'a': its state cannot be written (is a folder)",
    ]);
  });

  test.each([
    ['is damaged', '{"version":1,"id":'],
    ['is of another version', '{"version":99,"process":{"pid":1}}'],
    ['makes no sense', '{"version":1,"process":{}}'],
  ])('a replica whose state %s is ended', async (_, text) => {
    await left();
    writeFileSync(join(folder, 'state.json'), text);
    expect(await found()).toEqual([]);
    expect(await ground.processes()).toBe(0);
  });

  test('processes whose folder is gone are ended', async () => {
    await left();
    rmSync(folder, { recursive: true });
    expect(await ground.processes()).toBe(3);
    expect(await found()).toEqual([]);
    expect(await ground.processes()).toBe(0);
  });

  test('processes that cannot be ended are told of, and do not hold up the others', async () => {
    await left();
    rmSync(folder, { recursive: true });
    const hung = vi.spyOn(process, 'kill').mockReturnValue(true);
    const runner = await ground.open({ killWaitMs: 0 });
    hung.mockRestore();
    await runner.close();
    expect(ground.faults.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^processes of replicas that are gone do not end: \d+, \d+, \d+$/),
    ]);
  });

  test('a replica that runs but is not well is not ready, and does not hold up the others', async () => {
    await leftUnwell();
    expect(await found()).toMatchObject([{ phase: 'unready', exit: null }]);
    expect(await ground.processes()).toBe(1);
  });

  test('a replica whose time to start is over is ended', async () => {
    await leftUnwell();
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
  test('is for one control plane at a time', async () => {
    const first = await ground.open();
    await expect(ground.open()).rejects.toMatchObject({ code: 'RUNNER_IN_USE' });
    await first.close();
    await (await ground.open()).close();
  });

  test('has to be one that can be written to', async () => {
    const file = join(ground.folder, 'file');
    writeFileSync(file, '');
    await expect(LocalRunner.open({ folder: file })).rejects.toMatchObject({
      code: 'RUNNER_FOLDER',
      message: expect.stringContaining('is not a folder'),
    });
    // Folders are made level by level: Node's own way of making several would never end here.
    await expect(LocalRunner.open({ folder: '/proc/twinyard' })).rejects.toMatchObject({
      code: 'RUNNER_FOLDER',
      message: expect.stringContaining('no such folder'),
    });
  });

  test('is given up again when the runner cannot be opened', async () => {
    await left();
    rmSync(folder, { recursive: true });
    const hung = vi.spyOn(process, 'kill').mockReturnValue(true);
    const onFault = (error: Error) => {
      throw error;
    };
    await expect(ground.open({ killWaitMs: 0, onFault })).rejects.toThrow('do not end');
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

describe('a process that waits for the word', () => {
  const launched = () => {
    mkdirSync(folder, { recursive: true });
    return launch({
      ...{ id: 'a', program: '/bin/sh', args: ['-c', 'echo said'], memoryBytes: null },
      ...{ env: { [FOLDER_VARIABLE]: folder }, workingFolder: folder, logPath: join(folder, 'log') },
    });
  };

  test('does nothing before it comes', async () => {
    const waiting = await launched();
    expect(await ground.processes()).toBe(1);
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('');
    waiting.go();
    expect(await once(waiting.child, 'exit')).toEqual([0, null]);
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('said\n');
  });

  test('ends if it does not come', async () => {
    const waiting = await launched();
    waiting.drop();
    expect(await once(waiting.child, 'exit')).toEqual([125, null]);
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('');
  });

  test('that was never written down is ended with what is left', async () => {
    const waiting = await launched();
    expect(await found()).toEqual([]);
    expect(await ground.processes()).toBe(0);
    expect(waiting.child.signalCode ?? (await once(waiting.child, 'exit'))[1]).toBe('SIGKILL');
  });
});
