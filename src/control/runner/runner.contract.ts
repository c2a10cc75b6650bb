import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ReplicaHandle, ReplicaSpec, Runner, RunnerEvent } from './contract.js';
import { NoRoom } from './errors.js';
import type { FakeBehaviour } from './fake-engine.fixture.js';

/** Where a runner is tested: what persists when the runner is closed. There are two GPUs. */
export interface RunnerGround {
  /** Opens a runner; the one before has been closed. */
  open(): Promise<Runner>;
  /** A replica that is a fake engine. */
  spec(id: string, behaviour?: FakeBehaviour, change?: Partial<ReplicaSpec>): ReplicaSpec;
  /** Makes the fake engine of a replica do something; resolves when it has, or has ended. */
  tell(replica: ReplicaHandle, what: EngineOrder): Promise<void>;
  /** Removes a replica without the runner's knowledge: kills its process, deletes its pod or its job. */
  remove(replica: ReplicaHandle): Promise<void>;
  /** How many processes of replicas there are, known to a runner or not. */
  processes(): Promise<number>;
  /** Ends everything and removes the ground. */
  clear(): Promise<void>;
}

export type EngineOrder = 'ready' | 'unready' | { readonly say: string } | { readonly exit: number };

/** Promises that depend on what a cluster can do. A runner that cannot keep one passes the reason. */
export type OptionalPromise =
  /** Exits carry the code or the signal. */
  | 'exit-codes'
  /** Processes that an engine has started are counted and ended with it. */
  | 'child-processes'
  /** A replica that does not fit is refused at once, instead of waiting in the cluster. */
  | 'refusals'
  /** Engines get their environment with placeholders filled in, and report it on request. */
  | 'environment'
  /** Logs are read since a time. */
  | 'log-times'
  /** Logs are continued behind a line, also after the runner has been opened again. */
  | 'log-positions'
  /** The log of a replica is passed on before it is removed. */
  | 'kept-logs';

/** What every runner promises. */
export function runnerContract(
  newGround: () => Promise<RunnerGround>,
  exceptions: Readonly<Partial<Record<OptionalPromise, string>>> = {},
): void {
  const testOf = (promise: OptionalPromise) => test.skipIf(exceptions[promise] !== undefined);
  const exitOf = (exit: object) => (exceptions['exit-codes'] === undefined ? exit : {});

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

    /** The first event of a type about a replica since the last call. */
    const event = (type: RunnerEvent['type'], id: string) =>
      new Promise<ReplicaHandle>((resolve) => {
        const look = () => {
          const at = events.findIndex((one) => one.type === type && one.replica.id === id);
          if (at === -1) return;
          waiting.delete(look);
          resolve(events.splice(at, 1)[0]!.replica);
        };
        waiting.add(look);
        look();
      });
    const start = (id: string, behaviour?: FakeBehaviour, change?: Partial<ReplicaSpec>) =>
      runner.start(ground.spec(id, behaviour, change));
    const ready = async (id: string, behaviour?: FakeBehaviour, change?: Partial<ReplicaSpec>) => {
      await start(id, behaviour, change);
      return event('ready', id);
    };
    const withGpus = (gpus: number) => ({ resources: { cpu: null, memoryBytes: null, gpus, product: null } });
    const listed = async () => (await runner.list()).map(({ id, phase }) => [id, phase]);
    const lines = async (id: string, count?: number) => {
      const all: string[] = [];
      for await (const line of runner.logs(id, { tail: count })) all.push(line);
      return all;
    };

    test('starts a replica, reports when it is ready, and returns what it was given', async () => {
      const spec = ground.spec('a-1', {}, { generation: 7, specHash: 'abc' });
      const started = await runner.start(spec);
      expect(started).toMatchObject({ id: 'a-1', phase: 'starting', readyAt: null, exit: null });
      expect(await event('started', 'a-1')).toEqual(started);
      const handle = await event('ready', 'a-1');
      expect(handle).toMatchObject({
        ...{ id: 'a-1', workspace: 'default', endpoint: 'tiny', generation: 7, specHash: 'abc' },
        ...{ phase: 'ready', problem: null, resources: spec.resources, gpus: [], exit: null },
      });
      expect(handle.readyAt).toBeGreaterThanOrEqual(handle.startedAt);
      expect(handle.url).toMatch(/^http:\/\/[^/]+:\d+$/);
      expect(await runner.list()).toEqual([handle]);
    });

    testOf('environment')('passes the environment on, with placeholders filled in', async () => {
      const { url } = await ready('a', {}, { env: { A: 'at {{host}}:{{port}}' }, secretEnv: { B: 'hush' } });
      const { env } = (await (await fetch(`${url}/self`)).json()) as { env: Record<string, string> };
      expect([env.A, env.B]).toEqual([`at ${url.slice('http://'.length)}`, 'hush']);
    });

    test('lists replicas ordered by id', async () => {
      for (const id of ['b', 'c', 'a']) await start(id);
      expect((await runner.list()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    });

    test('reports when a replica stops being ready, and when it is ready again', async () => {
      const handle = await start('a', { isReady: false, says: ['loading'] });
      const log = runner.logs('a', { follow: true })[Symbol.asyncIterator]();
      expect((await log.next()).value).toBe('loading');
      expect((await log.next()).value).toBe('listening');
      await log.return?.();
      expect(await listed()).toEqual([['a', 'starting']]);
      await ground.tell(handle, 'ready');
      const { readyAt } = await event('ready', 'a');
      await ground.tell(handle, 'unready');
      expect(await event('unready', 'a')).toMatchObject({ phase: 'unready', readyAt });
      await ground.tell(handle, 'ready');
      expect(await event('ready', 'a')).toMatchObject({ phase: 'ready', readyAt });
    });

    test('reports a crash with its code and the last lines', async () => {
      const says = Array.from({ length: 50 }, (_, i) => `step ${i}`);
      await start('a', { says: [...says, 'out of memory'], exits: 3 });
      const { exit, phase } = await event('exited', 'a');
      expect(phase).toBe('exited');
      expect(exit).toMatchObject({ reason: 'ended', ...exitOf({ code: 3, signal: null }) });
      expect(exit!.lastLines.slice(-2)).toEqual(['step 49', 'out of memory']);
      expect(exit!.lastLines.length).toBeLessThan(50);
      expect(await listed()).toEqual([['a', 'exited']]);
      expect(await lines('a', 2)).toEqual(['step 49', 'out of memory']);
      expect(await runner.stop('a', { graceMs: 0 })).toEqual(exit);
      expect(await listed()).toEqual([]);
    });

    test('reports a replica that was removed by others', async () => {
      await ground.remove(await ready('a'));
      const { exit } = await event('exited', 'a');
      expect(exit).toMatchObject({ reason: 'ended' });
      expect(await listed()).toEqual([['a', 'exited']]);
    });

    test('stops a replica that responds to the request to end, and forgets it', async () => {
      await ready('a');
      const exit = await runner.stop('a', { graceMs: 60_000 });
      expect(exit).toMatchObject({ reason: 'stopped', ...exitOf({ code: 0 }) });
      expect(exit!.lastLines).toEqual(['listening', 'received SIGTERM']);
      expect((await event('exited', 'a')).exit).toEqual(exit);
      expect(await runner.list()).toEqual([]);
      expect(await ground.processes()).toBe(0);
      await expect(lines('a')).rejects.toMatchObject({ code: 'RUNNER_REPLICA_UNKNOWN' });
      expect(await runner.stop('a', { graceMs: 0 })).toBeNull();
    });

    test('kills a replica that does not end within the grace time, which a second stop can shorten', async () => {
      await ready('a', { isDeaf: true });
      await ready('b', { isDeaf: true });
      expect(await runner.stop('a', { graceMs: 50 })).toMatchObject({
        reason: 'stopped',
        ...exitOf({ code: null, signal: 'SIGKILL' }),
      });
      const patient = runner.stop('b', { graceMs: 600_000 });
      expect(await listed()).toEqual([['b', 'stopping']]);
      const hasty = await runner.stop('b', { graceMs: 0 });
      expect(await patient).toEqual(hasty);
      expect(hasty).toMatchObject(exitOf({ signal: 'SIGKILL' }));
      expect(await ground.processes()).toBe(0);
    });

    test('ends a replica that is not ready in time', async () => {
      await start('a', { isReady: false, says: ['stuck'] }, { startupTimeoutMs: 1 });
      const { exit } = await event('exited', 'a');
      expect(exit!.reason).toBe('startup-timeout');
      expect(await listed()).toEqual([['a', 'exited']]);
      expect(await ground.processes()).toBe(0);
    });

    testOf('child-processes')('leaves no process behind, in any session that the engine has created', async () => {
      const handle = await ready('a', { hasChildren: true });
      await ready('b', { hasChildren: true });
      expect(await ground.processes()).toBe(6);
      await ground.tell(handle, { exit: 1 });
      expect((await event('exited', 'a')).exit).toMatchObject(exitOf({ code: 1 }));
      expect(await ground.processes()).toBe(3);
      await runner.stop('b', { graceMs: 100 });
      expect(await ground.processes()).toBe(0);
    });

    test('reads logs: the last lines, then new ones until the replica has exited', async () => {
      const handle = await ready('a', { says: ['one', 'two'] });
      expect(await lines('a')).toEqual(['one', 'two', 'listening']);
      expect(await lines('a', 1)).toEqual(['listening']);
      const followed: string[] = [];
      for await (const line of runner.logs('a', { tail: 1, follow: true })) {
        followed.push(line);
        if (line === 'listening') await ground.tell(handle, { say: 'naïve' });
        if (line === 'naïve') void runner.stop('a', { graceMs: 60_000 });
      }
      expect(followed).toEqual(['listening', 'naïve', 'received SIGTERM']);
    });

    testOf('log-times')('reads logs since a time', async () => {
      await start('a', { says: ['one', 'two'], exits: 1 });
      const { exit, startedAt } = await event('exited', 'a');
      const since = async (ms: number, tail?: number) => {
        const all: string[] = [];
        const options = { since: ms, ...(tail === undefined ? {} : { tail }) };
        for await (const line of runner.logs('a', options)) all.push(line);
        return all;
      };
      expect((await since(startedAt - 1000)).slice(0, 2)).toEqual(['one', 'two']);
      expect(await since(startedAt - 1000, 1)).toHaveLength(1);
      expect(await since(exit!.at + 2000)).toEqual([]);
      await reopen();
      expect((await since(startedAt - 1000)).slice(0, 2)).toEqual(['one', 'two']);
      expect(await since(exit!.at + 2000)).toEqual([]);
    });

    testOf('log-positions')('continues a log behind a line, also after it has been opened again', async () => {
      const handle = await ready('a', { says: ['one', 'two'] });
      const cursor = { position: null };
      const followed = runner.logs('a', { follow: true, cursor })[Symbol.asyncIterator]();
      for (const line of ['one', 'two', 'listening']) expect((await followed.next()).value).toBe(line);
      await followed.return?.();
      await ground.tell(handle, { say: 'one' });
      await reopen();
      await ground.tell(handle, { say: 'two' });
      const rest = runner.logs('a', { follow: true, cursor })[Symbol.asyncIterator]();
      for (const line of ['one', 'two']) expect((await rest.next()).value).toBe(line);
      await rest.return?.();
    });

    testOf('kept-logs')('passes the log on before a replica is removed', async () => {
      const kept: [string, string | undefined, ...string[]][] = [];
      const keepLog = async ({ exit, id }: ReplicaHandle, log: AsyncIterable<string>) => {
        const all: string[] = [];
        for await (const line of log) all.push(line);
        kept.push([id, exit?.reason, ...all]);
      };
      await ready('a', { says: ['one'] });
      await Promise.all([1, 2].map(() => runner.stop('a', { graceMs: 60_000, keepLog })));
      await start('b', { says: ['out of memory'], exits: 3 });
      await event('exited', 'b');
      await runner.stop('b', { graceMs: 0, keepLog });
      expect(kept).toEqual([
        ['a', 'stopped', 'one', 'listening', 'received SIGTERM'],
        ['b', 'ended', 'out of memory'],
      ]);
      expect(await runner.list()).toEqual([]);
    });

    test('stops following when the signal is aborted', async () => {
      await ready('a');
      const enough = new AbortController();
      const followed: string[] = [];
      for await (const line of runner.logs('a', { follow: true, signal: enough.signal })) {
        followed.push(line);
        enough.abort();
      }
      expect(followed).toEqual(['listening']);
    });

    test('refuses a second replica with the same id, and invalid ids', async () => {
      const both = await Promise.allSettled([start('a'), start('a')]);
      expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
      await expect(start('a')).rejects.toMatchObject({ code: 'RUNNER_REPLICA_EXISTS' });
      for (const id of ['', '-a', 'A', '../a', 'a/b', 'a'.repeat(64)]) {
        await expect(start(id)).rejects.toMatchObject({ code: 'RUNNER_REPLICA_ID' });
      }
      await runner.stop('a', { graceMs: 0 });
      await start('a');
    });

    testOf('refusals')('gives what is free and no more, and takes it back', async () => {
      const free = async () => (await runner.discover()).free.gpus.map((gpu) => gpu.free);
      expect(await free()).toEqual([1, 1]);
      const half = await start('half', {}, withGpus(0.5));
      expect(half.gpus).toMatchObject([{ share: 0.5 }]);
      const refused = await start('two', {}, withGpus(2)).then(
        () => expect.unreachable('it does not fit'),
        (error: unknown) => error as NoRoom,
      );
      expect(refused).toBeInstanceOf(NoRoom);
      expect(refused).toMatchObject({ code: 'RUNNER_NO_ROOM', lacks: 'gpus', requested: { gpus: 2 } });
      expect(refused.free.gpus.map((gpu) => gpu.free).sort()).toEqual([0.5, 1]);
      await start('whole', {}, withGpus(1));
      await reopen();
      expect((await free()).sort()).toEqual([0, 0.5]);
      await expect(start('more', {}, withGpus(0.6))).rejects.toBeInstanceOf(NoRoom);
      await runner.stop('whole', { graceMs: 0 });
      await start('more', {}, withGpus(0.6));
      await runner.stop('more', { graceMs: 0 });
      await runner.stop('half', { graceMs: 0 });
      expect(await free()).toEqual([1, 1]);
    });

    testOf('refusals')('gives nothing to two replicas at the same time', async () => {
      const both = await Promise.allSettled([start('a', {}, withGpus(2)), start('b', {}, withGpus(2))]);
      expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    });

    test('uses the GPUs that its settings declare', async () => {
      runner.configure({ gpus: [{ id: '7', product: 'NVIDIA L4', memoryMiB: 23_034 }] });
      expect((await runner.discover()).free.gpus).toEqual([
        { id: '7', product: 'NVIDIA L4', memoryMiB: 23_034, free: 1 },
      ]);
    });

    test('that is opened again adopts its replicas', async () => {
      const before = await ready('a', { hasChildren: true });
      await ready('b', { isDeaf: true });
      await reopen();
      const [a, b] = await runner.list();
      expect(a).toEqual(before);
      expect(b).toMatchObject({ id: 'b', phase: 'ready' });
      await expect(start('a')).rejects.toMatchObject({ code: 'RUNNER_REPLICA_EXISTS' });
      await ground.tell(a!, { say: 'found' });
      expect(await lines('a', 1)).toEqual(['found']);
      await ground.tell(a!, { exit: 1 });
      expect((await event('exited', 'a')).exit!.lastLines).toContain('found');
      expect(await runner.stop('b', { graceMs: 50 })).toMatchObject({ reason: 'stopped' });
      expect(await ground.processes()).toBe(0);
    });

    test('that is opened again reports replicas that have exited meanwhile', async () => {
      const handle = await ready('a', { hasChildren: true });
      await runner.close();
      await ground.tell(handle, { say: 'last words' });
      await ground.tell(handle, { exit: 1 });
      await open();
      // The process may still be ending when the runner is opened.
      if ((await listed())[0]![1] !== 'exited') await event('exited', 'a');
      const [a] = await runner.list();
      expect(a!.exit!.lastLines.at(-1)).toBe('last words');
      expect(await ground.processes()).toBe(0);
      await reopen();
      expect(await runner.list()).toEqual([a]);
    });

    test('that is closed changes and reports nothing', async () => {
      const handle = await ready('a');
      await runner.close();
      await runner.close();
      await expect(start('b')).rejects.toMatchObject({ code: 'RUNNER_CLOSED' });
      await expect(runner.stop('a', { graceMs: 0 })).rejects.toMatchObject({ code: 'RUNNER_CLOSED' });
      await ground.tell(handle, { exit: 0 });
      while ((await ground.processes()) > 0);
      expect(events.filter(({ type }) => type === 'exited')).toEqual([]);
    });

    test('reports nothing to a listener that was removed', async () => {
      const types: string[] = [];
      const stopListening = runner.watch(({ type }) => types.push(type));
      await ready('a');
      stopListening();
      await runner.stop('a', { graceMs: 0 });
      // A cluster may also report what a replica waited for.
      expect(types.filter((type) => type !== 'problem')).toEqual(['started', 'ready']);
    });
  });
}
