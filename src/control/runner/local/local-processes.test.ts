import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ReplicaHandle, ReplicaSpec, RunnerEvent } from '../contract.js';
import { type FakeBehaviour, fakeSpec } from '../fake-engine.fixture.js';
import { LocalGround } from './local-ground.fixture.js';
import type { LocalRunner, LocalRunnerOptions } from './local-runner.js';

let ground: LocalGround;
let runner: LocalRunner;
const open = async (change: Partial<LocalRunnerOptions> = {}) => {
  await runner?.close();
  runner = await ground.open(change);
};
beforeEach(async () => {
  ground = new LocalGround();
  await open();
});
afterEach(async () => {
  await runner.close();
  await ground.clear();
});

/** The next event of a type; requested before what causes it. */
const next = (type: RunnerEvent['type']) =>
  new Promise<ReplicaHandle>((resolve) => {
    const stopListening = runner.watch((event) => {
      if (event.type !== type) return;
      stopListening();
      resolve(event.replica);
    });
  });
const ready = async (spec: ReplicaSpec) => {
  const isReady = next('ready');
  await runner.start(spec);
  return isReady;
};
interface Self {
  env: Record<string, string>;
  folder: string;
  args: string[];
}
const selfOf = async ({ url }: ReplicaHandle) => (await (await fetch(`${url}/self`)).json()) as Self;
const portOf = ({ url }: ReplicaHandle) => Number(new URL(url).port);
const GIVEN = { cpu: null, memoryBytes: null, gpus: 0, product: null };

test('the log of a replica whose folder is being removed is that of an unknown one', async () => {
  await ready(fakeSpec('a'));
  rmSync(join(ground.replicas, 'a', 'log'));
  await expect(runner.logs('a').next()).rejects.toMatchObject({ code: 'RUNNER_REPLICA_UNKNOWN' });
});

describe('the environment of a replica', () => {
  test('is the declared one and a base, and nothing else of the control plane', async () => {
    const env = { PATH: process.env.PATH, HOME: '/home/x', SECRET: 'of the control plane', CUDA_VISIBLE_DEVICES: '7' };
    await open({ env });
    const declared = { HF_HOME: '{{working_folder}}/hf', CHAT: '{{ messages }}', CUDA_VISIBLE_DEVICES: '0,1' };
    const handle = await ready(fakeSpec('a', {}, { env: declared }));
    const { env: seen, folder } = await selfOf(handle);
    expect(folder).toBe(join(ground.replicas, 'a', 'work'));
    delete seen.PWD; // The shell's own.
    expect(seen).toEqual({
      PATH: process.env.PATH,
      HOME: '/home/x',
      HF_HOME: `${folder}/hf`,
      CHAT: '{{ messages }}',
      CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
      CUDA_VISIBLE_DEVICES: '',
      TWINYARD_REPLICA_FOLDER: join(ground.replicas, 'a'),
    });
  });

  test('lists its GPUs', async () => {
    const two = await ready(fakeSpec('two', {}, { resources: { ...GIVEN, gpus: 2 } }));
    expect((await selfOf(two)).env.CUDA_VISIBLE_DEVICES).toBe('0,1');
    await runner.stop('two', { graceMs: 0 });
    const share = await ready(fakeSpec('share', {}, { resources: { ...GIVEN, gpus: 0.25, product: 'H100' } }));
    expect(share.gpus).toMatchObject([{ id: '0', share: 0.25 }]);
    expect((await selfOf(share)).env.CUDA_VISIBLE_DEVICES).toBe('0');
  });

  test('is not written to disk, nor is the command', async () => {
    const spec = fakeSpec('a', {}, { env: { HF_TOKEN: 'hf_secret' } });
    await runner.start({ ...spec, args: [...spec.args, 'sk-secret'] });
    const folder = join(ground.replicas, 'a');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'state.json')).mode & 0o777).toBe(0o600);
    for (const name of ['state.json', 'log']) expect(readFileSync(join(folder, name), 'utf8')).not.toContain('secret');
  });
});

describe('GPUs', () => {
  test('are those that the driver lists, read again each time', async () => {
    const programs = join(ground.folder, 'bin');
    mkdirSync(programs);
    const driver = join(programs, 'nvidia-smi');
    const lists = (...lines: string[]) => writeFileSync(driver, `#!/bin/sh\ncat <<.\n${lines.join('\n')}\n.\n`);
    lists('0, NVIDIA L4, 23034');
    chmodSync(driver, 0o755);
    await open({ machine: {}, env: { ...process.env, PATH: `${programs}:${process.env.PATH}` } });
    const whole = (id: string) => fakeSpec(id, {}, { resources: { ...GIVEN, gpus: 1, product: 'L4' } });
    await runner.start(whole('a'));
    await expect(runner.start(whole('b'))).rejects.toMatchObject({ lacks: 'gpus' });
    lists('0, NVIDIA L4, 23034', '1, NVIDIA L4, 23034');
    expect(await runner.discover()).toMatchObject({
      gpus: [{ id: '0', product: 'NVIDIA L4', memoryMiB: 23_034 }, { id: '1' }],
      free: { gpus: [{ free: 0 }, { free: 1 }] },
      limits: { cpu: 'none', memory: 'each-process', gpus: 'none' },
      problems: [],
    });
    expect((await runner.start(whole('b'))).gpus).toMatchObject([{ id: '1', share: 1 }]);
  });
});

describe('a replica that cannot be started', () => {
  const refused = (change: Partial<ReplicaSpec>) => runner.start(fakeSpec('a', {}, change));
  afterEach(async () => {
    expect(await runner.list()).toEqual([]);
    expect(readdirSync(ground.replicas)).toEqual([]);
    expect(await ground.processes()).toBe(0);
  });

  test('because the program does not exist is refused at once', async () => {
    await expect(refused({ command: 'no-such-engine' })).rejects.toMatchObject({
      code: 'RUNNER_COMMAND',
      message: "command 'no-such-engine': is not a program on the PATH; install it, or give its path",
    });
    await expect(refused({ command: './engine' })).rejects.toMatchObject({ code: 'RUNNER_COMMAND' });
    await expect(refused({ command: ground.folder })).rejects.toMatchObject({ code: 'RUNNER_COMMAND' });
    await expect(refused({ command: 'node', env: { PATH: '/nowhere' } })).rejects.toMatchObject({
      code: 'RUNNER_COMMAND',
    });
  });

  test('because its arguments are too long leaves nothing behind', async () => {
    await expect(refused({ args: ['x'.repeat(3e6)] })).rejects.toMatchObject({
      code: 'RUNNER_NOT_STARTED',
      message: expect.stringContaining('E2BIG'),
    });
  });

  test('because its folder cannot be created frees its resources', async () => {
    writeFileSync(join(ground.folder, 'file'), '');
    rmSync(ground.replicas, { recursive: true });
    await expect(refused({ resources: { ...GIVEN, gpus: 2 } })).rejects.toMatchObject({ code: 'ENOENT' });
    mkdirSync(ground.replicas);
    expect((await runner.discover()).free.gpus.map(({ free }) => free)).toEqual([1, 1]);
  });
});

describe('a port', () => {
  test('that another program takes first is replaced', async () => {
    // The engine listens late, like one that loads a model first.
    const { args } = fakeSpec('a');
    const gate = join(ground.folder, 'gate');
    const waits = ['-c', 'while [ ! -e "$0" ]; do sleep 0.01; done; exec "$@"', gate, process.execPath, ...args];
    const spec = fakeSpec('a', {}, { command: 'sh', args: waits });
    const first = await runner.start(spec);
    const events: string[] = [];
    runner.watch(({ type, replica }) => events.push(`${type} ${replica.url === first.url}`));
    const again = next('started');
    // Another program that takes the port first, and passes every health check.
    const checked: (() => void)[] = [];
    const stranger = createServer((_, response) => response.end(() => checked.shift()?.())).listen(
      portOf(first),
      '127.0.0.1',
    );
    for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => checked.push(resolve));
    expect((await runner.list())[0]).toMatchObject({ phase: 'starting', url: first.url });
    writeFileSync(gate, '');
    const second = await again;
    expect(second).toMatchObject({ id: 'a', phase: 'starting', readyAt: null });
    expect(second.url).not.toBe(first.url);
    await next('ready');
    expect((await selfOf(second)).args[0]).toBe(String(portOf(second)));
    expect((await runner.list())[0]).toMatchObject({ phase: 'ready', url: second.url });
    expect(events).toEqual(['started false', 'ready false']);
    stranger.close();
  });

  test('is replaced a limited number of times', async () => {
    const starts: string[] = [];
    runner.watch(({ type, replica }) => type === 'started' && starts.push(replica.url));
    const gone = next('exited');
    await runner.start(fakeSpec('a', { says: ['[Errno 98] Address already in use'], exits: 1 }));
    expect((await gone).exit).toMatchObject({ reason: 'ended', code: 1 });
    expect([starts.length, new Set(starts).size]).toEqual([4, 4]);
    expect(await ground.processes()).toBe(0);
  });
});

describe('limits', () => {
  test('of memory hold for each process of a replica', async () => {
    const gone = next('exited');
    const hungry = 'const all = []; for (;;) all.push(Buffer.alloc(10e6, 1));';
    const resources = { ...GIVEN, memoryBytes: 256 * 1024 ** 2 };
    await runner.start(fakeSpec('a', {}, { args: ['-e', hungry], resources }));
    const { exit } = await gone;
    expect(exit!.reason).toBe('ended');
    expect(exit!.lastLines.join('\n')).toMatch(/allocation failed|out of memory/i);
  });
});

describe('logs', () => {
  test('stay small while the engine keeps writing', async () => {
    await open({ logBytes: 2000, logEveryMs: 1 });
    const handle = await ready(fakeSpec('a'));
    const path = join(ground.replicas, 'a', 'log');
    const line = 'x'.repeat(500);
    let written = 0;
    for (; written < 50_000 || !existsSync(`${path}.1`); written += line.length)
      await fetch(`${handle.url}/say?${line}`);
    await fetch(`${handle.url}/say?the-end`);
    const lines: string[] = [];
    for await (const line of runner.logs('a', { tail: 1 })) lines.push(line);
    expect(lines).toEqual(['the-end']);
    expect(statSync(path).size + statSync(`${path}.1`).size).toBeLessThan(written);
    expect(ground.faults).toEqual([]);
  });

  test('that cannot be rotated are reported once', async () => {
    await open({ logEveryMs: 1 });
    await ready(fakeSpec('a'));
    rmSync(join(ground.replicas, 'a', 'log'));
    const { url } = (await runner.list())[0]!;
    while (ground.faults.length === 0) await fetch(`${url}/self`);
    for (let i = 0; i < 20; i++) await fetch(`${url}/self`);
    expect(ground.faults.map(({ message }) => message)).toEqual([
      `${join(ground.replicas, 'a', 'log')}: cannot be rotated (no such file); it keeps growing`,
    ]);
  });
});

describe('stopping', () => {
  test('gives processes that outlive the leader the rest of the grace time', async () => {
    // The shell ends at once; the engine below it still writes a line.
    const { args } = fakeSpec('a');
    const script = '"$@" & wait';
    await ready(fakeSpec('a', {}, { command: 'sh', args: ['-c', script, 'sh', process.execPath, ...args] }));
    const exit = await runner.stop('a', { graceMs: 60_000 });
    expect(exit).toMatchObject({ reason: 'stopped', signal: 'SIGTERM' });
    expect(exit!.lastLines.at(-1)).toBe('received SIGTERM');
    expect(await ground.processes()).toBe(0);
  });

  test('waits for a start that is under way', async () => {
    const behaviour: FakeBehaviour = { isReady: false };
    const started = runner.start(fakeSpec('a', behaviour));
    const stopped = runner.stop('a', { graceMs: 0 });
    expect((await started).id).toBe('a');
    expect(await stopped).toMatchObject({ reason: 'stopped' });
    expect(await ground.processes()).toBe(0);
  });

  test('continues if the state cannot be written, and reports it', async () => {
    await ready(fakeSpec('a'));
    rmSync(join(ground.replicas, 'a'), { recursive: true });
    expect(await runner.stop('a', { graceMs: 60_000 })).toMatchObject({ reason: 'stopped', code: 0 });
    expect(ground.faults[0]!.message).toBe("replica 'a': its state cannot be written (its folder does not exist)");
    expect(await ground.processes()).toBe(0);
  });

  test('is interrupted when the runner is closed, and completed by the next one', async () => {
    await ready(fakeSpec('a', { isDeaf: true }));
    const stopped = runner.stop('a', { graceMs: 600_000 });
    await Promise.all([runner.close(), expect(stopped).rejects.toMatchObject({ code: 'RUNNER_CLOSED' })]);
    expect(await ground.processes()).toBe(1);
    await open();
    expect(await ground.processes()).toBe(0);
    expect(await runner.list()).toEqual([]);
  });

  test('fails for a process that cannot be killed, and can be repeated', async () => {
    await open({ killWaitMs: 20 });
    await ready(fakeSpec('a'));
    const hung = vi.spyOn(process, 'kill').mockReturnValue(true);
    await expect(runner.stop('a', { graceMs: 10 })).rejects.toMatchObject({ code: 'RUNNER_WILL_NOT_END' });
    expect(hung).toHaveBeenLastCalledWith(expect.any(Number), 'SIGKILL');
    expect(await runner.list()).toMatchObject([{ phase: 'stopping' }]);
    hung.mockRestore();
    expect(await runner.stop('a', { graceMs: 60_000 })).toMatchObject({ signal: 'SIGKILL' });
  });
});
