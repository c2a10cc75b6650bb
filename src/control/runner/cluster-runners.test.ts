import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ClusterEvent, ClusterRunners } from './cluster-runners.js';
import type { ClusterSettings, ReplicaHandle, ReplicaSpec, Runner, RunnerEvent, StopOptions } from './contract.js';
import { fakeSpec } from './fake-engine.fixture.js';
import { fakeHandle } from './fake-handle.fixture.js';
import { RUNNER_TYPES } from './registry.js';
import type { RunnerOptions, RunnerType } from './runner-type.js';

/** A runner that only records its calls. */
class FakeClusterRunner implements Pick<Runner, 'configure' | 'start' | 'list' | 'stop' | 'logs' | 'watch' | 'close'> {
  readonly settings: ClusterSettings[] = [];
  readonly stopped: string[] = [];
  isClosed = false;
  readonly #replicas: ReplicaHandle[] = [];
  #listener: (event: RunnerEvent) => void = () => {};

  constructor(
    readonly type: string,
    readonly options: RunnerOptions,
  ) {}

  configure(settings: ClusterSettings): void {
    this.settings.push(settings);
  }

  async start({ id }: ReplicaSpec): Promise<ReplicaHandle> {
    const replica = { id } as ReplicaHandle;
    this.#replicas.push(replica);
    this.#listener({ type: 'started', replica });
    return replica;
  }

  list = async () => [...this.#replicas];

  async stop(id: string, { keepLog }: StopOptions) {
    this.stopped.push(id);
    const at = this.#replicas.findIndex((one) => one.id === id);
    const [replica] = this.#replicas.splice(at, 1);
    if (replica?.exit) await keepLog?.(replica, this.logs(id));
    return null;
  }

  /** A replica that has ended by itself. */
  ended(id: string, at: number): void {
    const exit = { reason: 'ended', code: 1, signal: null, detail: null, at, lastLines: [] } as const;
    this.#replicas.push(fakeHandle(id, { exit }));
  }

  async *logs(id: string) {
    yield `${this.options.cluster} ${id}`;
  }

  watch(listener: (event: RunnerEvent) => void) {
    this.#listener = listener;
    return () => {
      this.#listener = () => {};
    };
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

async function opened(folder = '/data', isLeading = () => true) {
  const open = new Map<string, FakeClusterRunner>();
  const typeOf = (name: string, builtInCluster: string | null): RunnerType => ({
    ...{ name, summary: '', builtInCluster, runsHere: builtInCluster !== null },
    async open(options) {
      const runner = new FakeClusterRunner(name, options);
      open.set(options.cluster, runner);
      return runner as unknown as Runner;
    },
  });
  const types = [typeOf('here', 'here'), typeOf('away', null)];
  const runners = await ClusterRunners.open({ folder, onFault: () => {}, types, isLeading });
  return { runners, open };
}

test('opens built-in clusters at once, and others when they are used', async () => {
  const { open, runners } = await opened();
  expect([...open.keys()]).toEqual(['here']);
  expect(open.get('here')!.options.folder).toBe('/data/here');
  expect(runners.typeOf('moon')).toBeNull();
  await runners.use('moon', 'away', { gpus: [] });
  expect(open.get('moon')!.options).toMatchObject({ cluster: 'moon', settings: { gpus: [] }, folder: '/data/moon' });
  expect(runners.typeOf('moon')).toMatchObject({ name: 'away', runsHere: false });
});

test('configures an open cluster, and opens it again when its type changes', async () => {
  const { open, runners } = await opened();
  const first = await runners.use('moon', 'away', {});
  expect(await runners.use('moon', 'away', { gpus: [] })).toBe(first);
  expect(open.get('moon')!.settings).toEqual([{ gpus: [] }]);
  await runners.drop('moon');
  expect(open.get('moon')!.isClosed).toBe(true);
  expect(await runners.use('moon', 'away', {})).not.toBe(first);
});

test('refuses a second cluster of a type that has one, and another type for a built-in cluster', async () => {
  const { runners } = await opened();
  await expect(runners.use('moon', 'here', {})).rejects.toMatchObject({
    code: 'RUNNER_CLUSTER',
    message: "cluster 'moon': type 'here' has one cluster, 'here'; use 'here', or another type",
  });
  await expect(runners.use('here', 'away', {})).rejects.toMatchObject({
    code: 'RUNNER_CLUSTER',
    message: "cluster 'here': is built in with type 'here'; choose another name",
  });
});

test('names the cluster of each replica, and finds its runner by it', async () => {
  const { open, runners } = await opened();
  await runners.use('moon', 'away', {});
  const events: ClusterEvent[] = [];
  const unwatch = runners.watch((event) => events.push(event));
  await runners.start('here', fakeSpec('a'));
  await runners.start('moon', fakeSpec('b'));
  expect(await runners.list()).toEqual([
    { id: 'a', cluster: 'here' },
    { id: 'b', cluster: 'moon' },
  ]);
  expect(events.map(({ replica, type }) => [type, replica.id, replica.cluster])).toEqual([
    ['started', 'a', 'here'],
    ['started', 'b', 'moon'],
  ]);
  await runners.stop({ cluster: 'moon', id: 'b' }, { graceMs: 0 });
  expect([open.get('here')!.stopped, open.get('moon')!.stopped]).toEqual([[], ['b']]);
  const lines: string[] = [];
  for await (const line of runners.logs('a')) lines.push(line);
  expect(lines).toEqual(['here a']);
  await expect(runners.logs('c').next()).rejects.toMatchObject({ code: 'RUNNER_REPLICA_UNKNOWN' });
  await expect(runners.start('mars', fakeSpec('c'))).rejects.toThrow("cluster 'mars': is not connected");
  unwatch();
  await runners.start('here', fakeSpec('d'));
  expect(events).toHaveLength(2);
  await runners.close();
  expect([...open.values()].map(({ isClosed }) => isClosed)).toEqual([true, true]);
});

test('keeps the log of the replica that ended last, of any cluster, until it is forgotten', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-runners-'));
  const { open, runners } = await opened(folder);
  await runners.use('moon', 'away', {});
  const chat = { workspace: 'default', endpoint: 'chat' };
  const previous = async (tail = 10) => {
    const found = await runners.previousLog(chat, tail);
    const lines: string[] = [];
    for await (const line of found?.lines ?? []) lines.push(line);
    return [found?.replica, ...lines];
  };
  expect(await previous()).toEqual([undefined]);
  open.get('here')!.ended('a', 5);
  open.get('moon')!.ended('b', 3);
  expect(await previous()).toEqual(['a', 'here a']);
  await runners.stop({ cluster: 'here', id: 'a' }, { graceMs: 0 });
  expect(await previous()).toEqual(['a', 'here a']);
  expect(await previous(0)).toEqual(['a']);
  await runners.stop({ cluster: 'moon', id: 'b' }, { graceMs: 0 });
  expect(await previous()).toEqual(['a', 'here a']);
  open.get('moon')!.ended('c', 9);
  expect(await previous()).toEqual(['c', 'moon c']);
  await runners.stop({ cluster: 'moon', id: 'c' }, { graceMs: 0 });
  await runners.forgetLog(chat);
  expect(await previous()).toEqual([undefined]);
  await runners.close();
  rmSync(folder, { recursive: true });
});

test('runner types have distinct names and clusters', () => {
  const names = RUNNER_TYPES.map(({ name }) => name);
  const clusters = RUNNER_TYPES.map(({ builtInCluster }) => builtInCluster).filter((name) => name !== null);
  expect([new Set(names).size, new Set(clusters).size]).toEqual([names.length, clusters.length]);
});

test('a process that does not lead acts on this machine only, and leaves replicas of shared clusters as they are', async () => {
  let isLeading = true;
  const { open, runners } = await opened('/data', () => isLeading);
  await runners.use('k8s', 'away', {});
  await runners.start('k8s', fakeSpec('a'));
  const shared = open.get('k8s')!;
  expect([shared.options.mayAct(), runners.runsHere('here'), runners.runsHere('away')]).toEqual([true, true, false]);
  isLeading = false;
  const refused = { code: 'RUNNER_NOT_LEADING' };
  await expect(runners.start('k8s', fakeSpec('b'))).rejects.toMatchObject(refused);
  await expect(runners.stop({ cluster: 'k8s', id: 'a' }, { graceMs: 0 })).rejects.toMatchObject(refused);
  expect([shared.options.mayAct(), open.get('here')!.options.mayAct()]).toEqual([false, true]);
  await runners.start('here', fakeSpec('c'));
  await runners.dropShared();
  expect([shared.isClosed, shared.stopped, open.get('here')!.isClosed]).toEqual([true, [], false]);
  expect((await runners.list()).map(({ id }) => id)).toEqual(['c']);
  await expect(runners.stop({ cluster: 'k8s', id: 'a' }, { graceMs: 0 })).rejects.toMatchObject(refused);
});
