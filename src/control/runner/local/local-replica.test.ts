import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ReplicaSpec } from '../contract.js';
import { fakeSpec } from '../fake-engine.fixture.js';
import { LocalGround } from './local-ground.fixture.js';
import { LocalReplica } from './local-replica.js';
import { PortBook } from './process/port-book.js';
import { type StartedReplica, startReplica } from './start-replica.js';

let ground: LocalGround;
let folder: string;
let ports: PortBook;
beforeEach(() => {
  ground = new LocalGround();
  folder = join(ground.replicas, 'a');
  mkdirSync(folder, { recursive: true });
  ports = new PortBook(folder);
});
afterEach(() => ground.clear());

const start = (spec: ReplicaSpec) =>
  startReplica({ spec, held: { resources: spec.resources, gpus: [] }, folder, ports, env: process.env, user: null });

/** A replica that has lost its port; the test decides when and how it is started again. */
async function betweenProcesses(): Promise<{ replica: LocalReplica; go: (started: Promise<StartedReplica>) => void }> {
  const events: string[] = [];
  const context = {
    ports,
    timing: { everyMs: 20, timeoutMs: 5000, failures: 1 },
    scrub: (line: string) => line,
    mostLogBytes: 1e6,
    killWaitMs: 60_000,
    emit: ({ type }: { type: string }) => events.push(type),
    onFault: (error: Error) => expect.unreachable(error.message),
  };
  const { process, record } = await start(fakeSpec('a', { says: ['EADDRINUSE'], exits: 1 }));
  let go!: (started: Promise<StartedReplica>) => void;
  const again = new Promise<StartedReplica>((resolve) => {
    go = resolve;
  });
  const restarting = new Promise<LocalReplica>((resolve) => {
    const replica = new LocalReplica(folder, record, context, () => {
      resolve(replica);
      return again;
    });
    void replica.watch(process);
  });
  return { replica: await restarting, go };
}

describe('a replica that is being started again', () => {
  test('is stopped as soon as it has a process', async () => {
    const { go, replica } = await betweenProcesses();
    const stopped = replica.stop(60_000);
    expect(replica.handle.phase).toBe('stopping');
    go(start(fakeSpec('a')));
    expect(await stopped).toMatchObject({ reason: 'stopped' });
    expect(await ground.processes()).toBe(0);
  });

  test('is released with its new process', async () => {
    const { go, replica } = await betweenProcesses();
    const released = replica.release();
    const started = start(fakeSpec('a'));
    go(started);
    await released;
    const runner = await ground.open();
    expect(await runner.list()).toMatchObject([{ id: 'a', exit: null }]);
    expect(ground.pidOf('a')).toBe((await started).process.identity.pid);
    await runner.close();
  });

  test('has exited if it cannot be started again', async () => {
    const { go, replica } = await betweenProcesses();
    const stopped = replica.stop(60_000);
    go(start(fakeSpec('a', {}, { command: 'no-such-engine' })));
    expect(await stopped).toMatchObject({ code: 1, lastLines: ['EADDRINUSE'] });
    expect(replica.handle.phase).toBe('exited');
  });
});

describe('a start', () => {
  test('whose state cannot be written leaves no process and no port', async () => {
    mkdirSync(join(folder, `.state.json.${process.pid}.tmp`));
    const released = vi.spyOn(ports, 'release');
    const failed = start(fakeSpec('a'));
    await expect(failed).rejects.toMatchObject({
      code: 'RUNNER_NOT_STARTED',
      message: expect.stringContaining('is a folder'),
    });
    expect(await ground.processes()).toBe(0);
    expect(released).toHaveBeenCalledOnce();
  });
});
