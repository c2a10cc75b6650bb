import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ReplicaHandle, ReplicaSpec, Runner, RunnerEvent } from './contract.js';
import { NoRoom } from './errors.js';
import { fakeSpec } from './fake-engine.fixture.js';

/** The ground on which runners are tested: what stays when a runner is closed. */
export interface RunnerGround {
  /** Opens a runner; the one before has been closed. */
  open(): Promise<Runner>;
  /** How many processes of replicas there are, whether or not somebody knows of them. */
  processes(): Promise<number>;
  /** Ends all there may be and removes the ground. */
  clear(): Promise<void>;
}

/** What every runner promises. There are two GPUs to give. */
export function runnerContract(newGround: () => Promise<RunnerGround>): void {
  describe('a runner', () => {
    let ground: RunnerGround;
    let runner: Runner;
    let events: RunnerEvent[];
    const waiting = new Set<() => void>();

    const open = async () => {
      runner = await ground.open();
      runner.watch((event) => {
        events.push(event);
        for (const look of waiting) look();
      });
    };
    const reopen = async () => {
      await runner.close();
      await open();
    };
    beforeEach(async () => {
      events = [];
      ground = await newGround();
      await open();
    });
    afterEach(async () => {
      await runner.close();
      await ground.clear();
    });

    /** The first event of a kind about a replica, since the last time this was asked. */
    const told = (type: RunnerEvent['type'], id: string) =>
      new Promise<ReplicaHandle>((resolve) => {
        const look = () => {
          const at = events.findIndex((event) => event.type === type && event.replica.id === id);
          if (at === -1) return;
          waiting.delete(look);
          resolve(events.splice(at, 1)[0]!.replica);
        };
        waiting.add(look);
        look();
      });
    const ready = async (spec: ReplicaSpec) => {
      await runner.start(spec);
      return told('ready', spec.id);
    };
    const post = async ({ url }: ReplicaHandle, path: string) => {
      await fetch(`${url}${path}`, { method: 'POST' }).then(
        (response) => response.text(),
        () => '',
      );
    };
    const listed = async () => (await runner.list()).map(({ id, phase }) => [id, phase]);
    const lines = async (id: string, count?: number) => {
      const all: string[] = [];
      for await (const line of runner.logs(id, { lines: count })) all.push(line);
      return all;
    };

    test('starts a replica, says when it is ready, and tells back what it was given', async () => {
      const spec = fakeSpec('a-1', {}, { generation: 7, specHash: 'abc', env: { COLOUR: 'blue {{port}}' } });
      const started = await runner.start(spec);
      expect(started).toMatchObject({ id: 'a-1', phase: 'starting', readyAt: null, exit: null });
      expect(await told('started', 'a-1')).toEqual(started);
      const handle = await told('ready', 'a-1');
      expect(handle).toMatchObject({
        ...{ id: 'a-1', workspace: 'default', endpoint: 'tiny', generation: 7, specHash: 'abc' },
        ...{ phase: 'ready', resources: spec.resources, gpus: [], exit: null },
      });
      expect(handle.readyAt).toBeGreaterThanOrEqual(handle.startedAt);
      expect(new URL(handle.url).port).toBe(String(handle.port));
      expect(await runner.list()).toEqual([handle]);
      const { env } = (await (await fetch(`${handle.url}/self`)).json()) as { env: Record<string, string> };
      expect(env.COLOUR).toBe(`blue ${handle.port}`);
    });

    test('lists replicas in order', async () => {
      for (const id of ['b', 'c', 'a']) await runner.start(fakeSpec(id));
      expect((await runner.list()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    });

    test('says when a replica is ready no more, and again', async () => {
      const handle = await runner.start(fakeSpec('a', { isReady: false, says: ['loading'] }));
      const log = runner.logs('a', { follow: true })[Symbol.asyncIterator]();
      expect((await log.next()).value).toBe('loading');
      expect((await log.next()).value).toBe('listening');
      await log.return?.();
      expect(await listed()).toEqual([['a', 'starting']]);
      await post(handle, '/ready');
      const { readyAt } = await told('ready', 'a');
      await post(handle, '/unready');
      expect(await told('unready', 'a')).toMatchObject({ phase: 'unready', readyAt });
      await post(handle, '/ready');
      expect(await told('ready', 'a')).toMatchObject({ phase: 'ready', readyAt });
    });

    test('tells of a crash with its code and the last lines', async () => {
      const says = Array.from({ length: 50 }, (_, i) => `step ${i}`);
      await runner.start(fakeSpec('a', { says: [...says, 'out of memory'], exits: 3 }));
      const { exit, phase } = await told('exited', 'a');
      expect(phase).toBe('exited');
      expect(exit).toMatchObject({ reason: 'ended', code: 3, signal: null });
      expect(exit!.lastLines.slice(-2)).toEqual(['step 49', 'out of memory']);
      expect(exit!.lastLines.length).toBeLessThan(50);
      expect(await listed()).toEqual([['a', 'exited']]);
      expect(await lines('a', 2)).toEqual(['step 49', 'out of memory']);
      expect(await runner.stop('a', { graceMs: 0 })).toEqual(exit);
      expect(await listed()).toEqual([]);
    });

    test('stops a replica that listens, and forgets it', async () => {
      await ready(fakeSpec('a'));
      const exit = await runner.stop('a', { graceMs: 60_000 });
      expect(exit).toMatchObject({ reason: 'stopped', code: 0 });
      expect(exit!.lastLines).toEqual(['listening', 'asked to end']);
      expect((await told('exited', 'a')).exit).toEqual(exit);
      expect(await runner.list()).toEqual([]);
      expect(await ground.processes()).toBe(0);
      await expect(lines('a')).rejects.toMatchObject({ code: 'RUNNER_REPLICA_UNKNOWN' });
      expect(await runner.stop('a', { graceMs: 0 })).toBeNull();
    });

    test('ends by force who does not listen, after the grace or when there is no more patience', async () => {
      await ready(fakeSpec('a', { isDeaf: true }));
      await ready(fakeSpec('b', { isDeaf: true }));
      expect(await runner.stop('a', { graceMs: 50 })).toMatchObject({
        reason: 'stopped',
        code: null,
        signal: 'SIGKILL',
      });
      const patient = runner.stop('b', { graceMs: 600_000 });
      expect(await listed()).toEqual([['b', 'stopping']]);
      const hasty = await runner.stop('b', { graceMs: 0 });
      expect(await patient).toEqual(hasty);
      expect(hasty).toMatchObject({ signal: 'SIGKILL' });
      expect(await ground.processes()).toBe(0);
    });

    test('ends who is not ready in time', async () => {
      await runner.start(fakeSpec('a', { isReady: false, says: ['stuck'] }, { startupTimeoutMs: 1 }));
      const { exit } = await told('exited', 'a');
      expect(exit!.reason).toBe('startup-timeout');
      expect(await listed()).toEqual([['a', 'exited']]);
      expect(await ground.processes()).toBe(0);
    });

    test('leaves no process behind, wherever the engine has put it', async () => {
      const handle = await ready(fakeSpec('a', { hasChildren: true }));
      await ready(fakeSpec('b', { hasChildren: true }));
      expect(await ground.processes()).toBe(6);
      await post(handle, '/exit?1');
      expect((await told('exited', 'a')).exit).toMatchObject({ code: 1 });
      expect(await ground.processes()).toBe(3);
      await runner.stop('b', { graceMs: 100 });
      expect(await ground.processes()).toBe(0);
    });

    test('reads logs: the last lines, and then what comes until the end', async () => {
      const handle = await ready(fakeSpec('a', { says: ['one', 'two'] }));
      expect(await lines('a')).toEqual(['one', 'two', 'listening']);
      expect(await lines('a', 1)).toEqual(['listening']);
      const followed: string[] = [];
      const following = (async () => {
        for await (const line of runner.logs('a', { lines: 1, follow: true })) {
          followed.push(line);
          if (line === 'listening') await post(handle, '/say?naïve');
          if (line === 'naïve') void runner.stop('a', { graceMs: 60_000 });
        }
      })();
      await following;
      expect(followed).toEqual(['listening', 'naïve', 'asked to end']);
    });

    test('stops following when told to', async () => {
      await ready(fakeSpec('a'));
      const enough = new AbortController();
      const followed: string[] = [];
      for await (const line of runner.logs('a', { follow: true, signal: enough.signal })) {
        followed.push(line);
        enough.abort();
      }
      expect(followed).toEqual(['listening']);
    });

    test('refuses a second replica of the same name, and names that are none', async () => {
      const both = await Promise.allSettled([runner.start(fakeSpec('a')), runner.start(fakeSpec('a'))]);
      expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
      await expect(runner.start(fakeSpec('a'))).rejects.toMatchObject({ code: 'RUNNER_REPLICA_EXISTS' });
      for (const id of ['', '-a', 'A', '../a', 'a/b', 'a'.repeat(64)]) {
        await expect(runner.start(fakeSpec(id))).rejects.toMatchObject({ code: 'RUNNER_REPLICA_ID' });
      }
      await runner.stop('a', { graceMs: 0 });
      await runner.start(fakeSpec('a'));
    });

    test('gives what there is and no more, says what is free, and takes it back', async () => {
      const spec = (id: string, gpus: number) =>
        fakeSpec(id, {}, { resources: { cpu: null, memoryBytes: null, gpus, product: null } });
      const free = async () => (await runner.discover()).free.gpus.map((gpu) => gpu.free);
      expect(await free()).toEqual([1, 1]);
      const half = await runner.start(spec('half', 0.5));
      expect(half.gpus).toMatchObject([{ share: 0.5 }]);
      const refused = await runner.start(spec('two', 2)).then(
        () => expect.unreachable('it does not fit'),
        (error: unknown) => error as NoRoom,
      );
      expect(refused).toBeInstanceOf(NoRoom);
      expect(refused).toMatchObject({ code: 'RUNNER_NO_ROOM', lacks: 'gpus', asked: { gpus: 2 } });
      expect(refused.free.gpus.map((gpu) => gpu.free).sort()).toEqual([0.5, 1]);
      await runner.start(spec('whole', 1));
      await reopen();
      expect((await free()).sort()).toEqual([0, 0.5]);
      await expect(runner.start(spec('more', 0.6))).rejects.toBeInstanceOf(NoRoom);
      await runner.stop('whole', { graceMs: 0 });
      await runner.start(spec('more', 0.6));
      await runner.stop('more', { graceMs: 0 });
      await runner.stop('half', { graceMs: 0 });
      expect(await free()).toEqual([1, 1]);
    });

    test('gives nothing to two who ask at the same time', async () => {
      const spec = (id: string) =>
        fakeSpec(id, {}, { resources: { cpu: null, memoryBytes: null, gpus: 2, product: null } });
      const both = await Promise.allSettled([runner.start(spec('a')), runner.start(spec('b'))]);
      expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    });

    test('that is opened again finds its replicas, and cares for them as for its own', async () => {
      const before = await ready(fakeSpec('a', { hasChildren: true }));
      await ready(fakeSpec('b', { isDeaf: true }));
      await reopen();
      const [a, b] = await runner.list();
      expect(a).toEqual(before);
      expect(b).toMatchObject({ id: 'b', phase: 'ready' });
      await expect(runner.start(fakeSpec('a'))).rejects.toMatchObject({ code: 'RUNNER_REPLICA_EXISTS' });
      await post(a!, '/say?found');
      expect(await lines('a', 1)).toEqual(['found']);
      await post(a!, '/exit?1');
      expect((await told('exited', 'a')).exit!.lastLines).toContain('found');
      expect(await runner.stop('b', { graceMs: 50 })).toMatchObject({ reason: 'stopped' });
      expect(await ground.processes()).toBe(0);
    });

    test('that is opened again tells who has exited meanwhile', async () => {
      const handle = await ready(fakeSpec('a', { hasChildren: true }));
      await runner.close();
      await post(handle, '/say?last words');
      await post(handle, '/exit?1');
      await open();
      // Whether the process was already gone when the runner looked is not ours to say.
      if ((await listed())[0]![1] !== 'exited') await told('exited', 'a');
      const [a] = await runner.list();
      expect(a!.exit!.lastLines.at(-1)).toBe('last words');
      expect(await ground.processes()).toBe(0);
      await reopen();
      expect(await runner.list()).toEqual([a]);
    });

    test('that is closed does nothing more, and says nothing', async () => {
      const handle = await ready(fakeSpec('a'));
      await runner.close();
      await runner.close();
      await expect(runner.start(fakeSpec('b'))).rejects.toMatchObject({ code: 'RUNNER_CLOSED' });
      await expect(runner.stop('a', { graceMs: 0 })).rejects.toMatchObject({ code: 'RUNNER_CLOSED' });
      await post(handle, '/exit?0');
      while ((await ground.processes()) > 0);
      expect(events.filter(({ type }) => type === 'exited')).toEqual([]);
    });

    test('tells nothing to who listens no more', async () => {
      const heard: string[] = [];
      const stopListening = runner.watch(({ type }) => heard.push(type));
      await ready(fakeSpec('a'));
      stopListening();
      await runner.stop('a', { graceMs: 0 });
      expect(heard).toEqual(['started', 'ready']);
    });
  });
}
