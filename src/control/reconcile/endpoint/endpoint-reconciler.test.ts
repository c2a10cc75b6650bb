import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { InputError } from '../../../kernel/errors.js';
import { TINY_CONFIG } from '../../models/fake-model.fixture.js';
import { missingCommand, willNotEnd } from '../../runner/errors.js';
import { FakePlane } from '../fake-plane.fixture.js';

const CHAT = { kind: 'Endpoint', workspace: 'default', name: 'chat' };

describe('an endpoint', () => {
  test('is deployed, and its replicas get requests when they are ready', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n  variables: {speed: 10}\n  env: {A: b}\n  secret_env: {TOKEN: hush}\n');
    expect(await plane.status()).toBe('Deploying 0: 0 of 2 replicas are ready');
    expect(plane.runners.started).toHaveLength(2);
    expect(plane.runners.started[0]).toMatchObject({
      id: 'chat-r1',
      workspace: 'default',
      endpoint: 'chat',
      command: 'twinyard',
      args: expect.arrayContaining(['engine', '--served-model-name', 'tiny', '--port', '{{port}}', '--speed=10']),
      env: { A: 'b' },
      secretEnv: { TOKEN: 'hush' },
      healthPath: '/health',
      startupTimeoutMs: 1_800_000,
    });
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({
      models: ['tiny'],
      replicas: [],
      waitsFor: 'its replicas are starting',
      policy: { name: 'unified' },
    });
    plane.runners.ready('chat-r1');
    await plane.rest();
    expect([plane.routes.routed(), await plane.status()]).toEqual([
      ['chat-r1'],
      'Deploying 1: 1 of 2 replicas are ready',
    ]);
    await plane.ready();
    expect(await plane.status()).toBe('Running 2: ');
    expect(plane.routes.endpoints.get('default/chat')!.replicas[0]).toEqual({
      ...{ id: 'chat-r1', url: 'http://127.0.0.1:20001', engine: 'emulator', models: ['tiny'] },
      ...{ healthPath: '/health', loadPath: '/metrics' },
    });
    expect((await plane.shown())!.status).toMatchObject({
      observed_generation: 1,
      url: 'http://gateway/default/chat',
      conditions: [
        { type: 'Ready', status: true },
        { type: 'Updated', status: true },
      ],
    });
    expect(await plane.reasons()).toEqual(['Started', 'Started', 'Deploying', 'Ready', 'Ready', 'Running']);
    expect(plane.faults).toEqual([]);
  });

  test('routes replicas with the GPU and the tensor parallelism that they run on', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  variables: {hardware: H100, tp: 2}\n');
    await plane.ready();
    expect(plane.routes.endpoints.get('default/chat')!.replicas).toMatchObject([{ hardware: 'H100', tp: 2 }]);
  });

  test('that is paused is routed at a start from its record, without being reconciled', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 0\n');
    const routed = plane.routes.endpoints.get('default/chat');
    plane.routes.endpoints.clear();
    let reads = 0;
    const read = plane.store.resources.get.bind(plane.store.resources);
    plane.store.resources.get = (ref) => {
      reads++;
      return read(ref);
    };
    await plane.restart();
    expect([plane.routes.endpoints.get('default/chat'), reads]).toEqual([routed, 0]);
    expect(routed).toMatchObject({ replicas: [], waitsFor: 'it is paused', isIdle: true });
    await plane.delete();
    expect([plane.routes.endpoints.size, await plane.shown()]).toEqual([0, null]);
  });

  test.each([
    ['has replicas', 'now', '  replicas: 1\n', {}],
    ['is being deleted', 'now', '  replicas: 0\n', { deletedAt: 1 }],
    ['has secrets, which are removed from logs', 'later', '  replicas: 0\n  secret_env: {TOKEN: hush}\n', {}],
    ['was changed and not reconciled since', 'later', '  replicas: 0\n', { generation: 9 }],
    ['has no status', 'later', '  replicas: 0\n', { status: null }],
    ['is as its status says', 'nothing', '  replicas: 0\n', {}],
  ] as const)('that %s needs at a start: %s', async (_, needs, spec, change) => {
    const plane = await FakePlane.open();
    await plane.chat(spec);
    const record = (await plane.store.resources.get(CHAT))!;
    plane.endpoints.forget(CHAT);
    expect(plane.endpoints.restore({ ...record, ...change })).toBe(needs);
  });

  test('is scaled down when the requests of draining replicas have ended', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n');
    await plane.ready();
    plane.routes.busy.add('chat-r1').add('chat-r2');
    await plane.chat('  replicas: 1\n');
    expect([plane.routes.routed(), plane.runners.stopped]).toEqual([['chat-r2'], []]);
    expect(await plane.status()).toBe('Running 1: 1 replica is draining');
    plane.routes.end('chat-r1');
    await plane.rest();
    expect([plane.runners.stopped, await plane.status()]).toEqual([['chat-r1'], 'Running 1: ']);
    expect((await plane.reasons()).slice(-2)).toEqual(['Draining', 'Stopped']);
  });

  test('is paused without replicas, and resumed', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    await plane.ready();
    await plane.chat('  replicas: 0\n');
    expect([await plane.status(), plane.runners.ids]).toEqual(['Paused 0: ', []]);
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({ waitsFor: 'it is paused', isIdle: true });
    await plane.chat('');
    await plane.ready();
    expect(await plane.status()).toBe('Running 1: ');
  });

  test('is updated one replica at a time, each after a new one is ready', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n');
    await plane.ready();
    await plane.chat('  replicas: 2\n  variables: {speed: 2}\n');
    expect(plane.routes.routed()).toEqual(['chat-r1', 'chat-r2']);
    expect(await plane.status()).toBe('Deploying 2: 2 of 2 replicas are ready, 2 are not updated yet');
    await plane.ready();
    expect(plane.routes.routed()).toHaveLength(2);
    await plane.ready();
    expect([plane.routes.routed(), await plane.status()]).toEqual([['chat-r3', 'chat-r4'], 'Running 2: ']);
  });

  test('replaces a replica that an operator drains, also over a restart, and keeps serving', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n');
    await plane.ready();
    await plane.drain('chat-r1');
    expect([plane.routes.routed(), await plane.status()]).toEqual([
      ['chat-r1', 'chat-r2'],
      'Deploying 2: 2 of 2 replicas are ready, 1 leaves as soon as another one serves',
    ]);
    await plane.restart();
    expect((await plane.shown())!.status!.replicas).toMatchObject([{ id: 'chat-r1', leaving: true }, {}, {}]);
    await plane.ready();
    expect([plane.routes.routed(), await plane.status()]).toEqual([['chat-r2', 'chat-r3'], 'Running 2: ']);
    expect((await plane.events()).map(([, reason, message]) => `${reason}: ${message}`)).toContain(
      'Draining: replica chat-r1 gets no more requests',
    );
  });

  test('is deleted when its last replica has ended', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    await plane.ready();
    plane.routes.busy.add('chat-r1');
    await plane.delete();
    expect([plane.routes.endpoints.size, await plane.status()]).toEqual([
      0,
      'Deleting 0: waiting for 1 replica to end',
    ]);
    expect(plane.runners.forgotten).toEqual([]);
    plane.routes.end('chat-r1');
    await plane.rest();
    expect([await plane.shown(), plane.runners.ids]).toEqual([null, []]);
    // With the logs of its replicas.
    expect(plane.runners.forgotten).toContain('default/chat');
  });
});

describe('failures', () => {
  test('restarts a crashed replica with a back-off, and reports its last lines', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    plane.runners.crash('chat-r1', ['loading', 'no such model']);
    await plane.rest();
    expect(plane.runners.ids).toEqual(['chat-r2']);
    expect(await plane.status()).toBe('Failed 0: 0 of 1 replicas are ready: a replica exited with code 1');
    // It was restarted at once: clients may wait for it.
    expect(plane.routes.endpoints.get('default/chat')).not.toHaveProperty('isIdle');
    expect((await plane.shown())!.status!.last_lines).toEqual(['loading', 'no such model']);
    plane.runners.crash('chat-r2', ['again']);
    await plane.rest();
    expect((await plane.shown())!.status).toMatchObject({
      last_lines: ['again'],
      replicas: [{ id: 'chat-r2', phase: 'exited', restarts: 1, message: 'exited with code 1' }],
    });
    expect(await plane.status()).toMatch(/exited with code 1; next attempt at 00:16:41 UTC$/);
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({
      waitsFor: 'its replicas keep failing',
      isIdle: true,
    });
    await plane.pass(999);
    expect(plane.runners.ids).toEqual(['chat-r2']);
    await plane.pass(1);
    expect(plane.runners.ids).toEqual(['chat-r3']);
    await plane.ready();
    expect(await plane.status()).toBe('Running 1: ');
    expect((await plane.shown())!.status).not.toHaveProperty('last_lines');
    expect(await plane.reasons()).toContain('Exited');
  });

  test('counts repeated crashes in one event', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    for (let i = 1; i <= 6; i++) {
      plane.runners.crash(`chat-r${i}`, [`12:00:0${i} no such model`]);
      await plane.rest();
      await plane.pass(i === 1 ? 0 : 1000 * 2 ** (i - 2));
    }
    expect(await plane.events()).toEqual([
      [1, 'Started', 'replica chat-r1 was started'],
      [1, 'Deploying', '0 of 1 replicas are ready'],
      [1, 'Exited', 'replica chat-r1 exited with code 1; last line: 12:00:01 no such model'],
      [1, 'Started', 'replica chat-r2 was started'],
      [1, 'Failed', 'a replica exited with code 1'],
      [5, 'Exited', 'a replica exited with code 1, like the one before it'],
    ]);
    // Also while a replacement is starting: others have failed before.
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({ isIdle: true });
    await plane.ready();
    expect(plane.routes.endpoints.get('default/chat')).not.toHaveProperty('isIdle');
    expect((await plane.events()).at(-1)).toEqual([1, 'Running', 'its replica is ready']);
  });

  test('keeps serving clients while an update keeps failing', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    await plane.ready();
    await plane.chat('  variables: {speed: 2}\n');
    for (const id of ['chat-r2', 'chat-r3', 'chat-r4']) {
      plane.runners.crash(id);
      await plane.rest();
      await plane.pass(2000);
    }
    expect(await plane.status()).toMatch(/^Degraded 1: /);
    expect(plane.routes.routed()).toEqual(['chat-r1']);
    expect(plane.routes.endpoints.get('default/chat')).not.toHaveProperty('isIdle');
  });

  test('is degraded when one of several replicas crashes, which is unrouted at once', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n');
    await plane.ready();
    plane.endpoints.unroute({ id: 'chat-r1', workspace: 'default', endpoint: 'chat' }, true);
    expect(plane.routes.routed()).toEqual(['chat-r2']);
    plane.endpoints.unroute({ id: 'chat-r1', workspace: 'default', endpoint: 'chat' }, true);
    plane.endpoints.unroute({ id: 'r', workspace: 'default', endpoint: 'nobody' }, true);
    plane.runners.crash('chat-r1');
    await plane.rest();
    expect(await plane.status()).toMatch(/^Degraded 1: 1 of 2 replicas are ready: a replica exited with code 1/);
    plane.runners.ready('chat-r3');
    await plane.rest();
    expect([plane.routes.routed(), await plane.status()]).toEqual([['chat-r2', 'chat-r3'], 'Running 2: ']);
  });

  test('routes no requests to an unready replica until it is ready again', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n');
    await plane.ready();
    plane.runners.unready('chat-r2');
    await plane.rest();
    expect([plane.routes.routed(), await plane.status()]).toEqual([
      ['chat-r1'],
      'Degraded 1: 1 of 2 replicas are ready: replica chat-r2 fails its health check',
    ]);
    await plane.ready();
    expect(await plane.status()).toBe('Running 2: ');
    plane.runners.unready('chat-r1');
    await plane.rest();
    await plane.pass(120_000);
    expect([plane.runners.stopped, plane.runners.ids]).toEqual([['chat-r1'], ['chat-r2', 'chat-r3']]);
  });

  test('routes requests to its last replica while the gateway reaches it, ready in its cluster or not', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    await plane.ready();
    const last = { id: 'chat-r1', workspace: 'default', endpoint: 'chat' };
    plane.runners.unready('chat-r1');
    plane.endpoints.unroute(last, false);
    await plane.rest();
    expect([plane.routes.routed(), await plane.status()]).toEqual([
      ['chat-r1'],
      'Degraded 0: 0 of 1 replicas are ready: replica chat-r1 is not ready in its cluster; the gateway still reaches it',
    ]);
    await plane.pass(120_000);
    expect([plane.runners.stopped, plane.routes.routed()]).toEqual([[], ['chat-r1']]);
    plane.endpoints.unroute(last, true);
    expect(plane.routes.routed()).toEqual([]);
  });

  test('waits for room, and starts replicas when there is some', async () => {
    const plane = await FakePlane.open();
    plane.runners.room = 1;
    await plane.chat('  replicas: 2\n');
    expect(await plane.status()).toBe('Pending 0: 0 of 2 replicas are ready: does not fit: it needs 1 CPUs; free: 0');
    // One replica is starting.
    expect(plane.routes.endpoints.get('default/chat')).not.toHaveProperty('isIdle');
    await plane.ready();
    expect(await plane.status()).toMatch(/^Degraded 1: 1 of 2 .* does not fit/);
    plane.runners.room = 2;
    await plane.pass(4999);
    expect(plane.runners.ids).toHaveLength(1);
    await plane.pass(1);
    expect(plane.runners.ids).toHaveLength(2);
    expect(plane.endpoints.roomFreed()).toEqual([]);
    await plane.chat('  replicas: 3\n');
    plane.runners.room = 3;
    expect(plane.endpoints.roomFreed()).toEqual(['Endpoint/default/chat']);
    await plane.restart();
    expect(plane.runners.ids).toHaveLength(3);
  });

  test('reports what keeps a replica from becoming ready in its cluster', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    plane.runners.hold('chat-r1', 'no node has 2 GPUs');
    await plane.rest();
    expect(await plane.status()).toBe('Pending 0: 0 of 1 replicas are ready: replica chat-r1: no node has 2 GPUs');
    expect((await plane.shown())!.status).toMatchObject({ replicas: [{ message: 'no node has 2 GPUs' }] });
  });

  test('refuses clients at once when there is no capacity for any replica', async () => {
    const plane = await FakePlane.open();
    plane.runners.room = 0;
    await plane.chat('');
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({
      waitsFor: 'there is no room for its replicas',
      isIdle: true,
    });
    expect(await plane.events()).toEqual([[1, 'NoRoom', expect.stringContaining('does not fit')]]);
  });

  test('retries later when the program is not installed', async () => {
    const plane = await FakePlane.open();
    plane.runners.startFails = missingCommand('vllm', 'on the PATH');
    await plane.chat('');
    expect(await plane.status()).toMatch(/^Failed 0: 0 of 1 replicas are ready: command 'vllm': is not a program/);
    expect(await plane.reasons()).toEqual(['NotStarted']);
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({
      waitsFor: 'its replicas cannot be started',
      isIdle: true,
    });
    plane.runners.startFails = missingCommand('vllm', 'on the PATH');
    await plane.pass(1000);
    expect(await plane.events()).toEqual([[2, 'NotStarted', expect.stringContaining("command 'vllm'")]]);
    await plane.pass(1999);
    expect(plane.runners.ids).toEqual([]);
    await plane.pass(1);
    expect(plane.runners.ids).toHaveLength(1);
    expect(plane.routes.endpoints.get('default/chat')).not.toHaveProperty('isIdle');
  });

  test('reports an endpoint name that the gateway refuses, and stops a replica again that does not end', async () => {
    const plane = await FakePlane.open();
    plane.routes.putFails = new InputError('X', 'endpoint', 'is taken', 'give another name');
    await plane.chat('');
    await plane.ready();
    expect(await plane.status()).toBe(
      'Failed 1: the gateway cannot route to it: endpoint: is taken; give another name',
    );
    plane.routes.putFails = null;
    await plane.pass(5000);
    expect(await plane.status()).toBe('Running 1: ');
    plane.runners.stopFails = willNotEnd('chat-r1');
    await plane.chat('  replicas: 0\n');
    expect([plane.runners.ids, await plane.status()]).toEqual([['chat-r1'], 'Paused 0: 1 replica is draining']);
    await plane.pass(1000);
    expect([plane.runners.ids, plane.faults]).toEqual([[], [willNotEnd('chat-r1')]]);
  });

  test.each([
    [{ cluster: 'moon' }, "cluster 'moon' does not exist or is not connected"],
    [{ engine: { name: 'nobody' } }, "engine 'nobody' does not exist"],
    [{ env: { LD_PRELOAD: '/x.so' } }, 'no endpoint may set LD_PRELOAD: remove it from its environment'],
    [{ model: { registry: 'shelf', name: 'm', task: 'text-generation' } }, "model registry 'shelf' does not exist"],
  ])('does not start what refers to nothing, or what the API refuses: %j', async (more, problem) => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 0\n');
    // As in a store that was filled by an older version, or by hand.
    const spec = JSON.stringify({ ...chatSpec, ...more });
    await plane.opened.exclusively((tx) =>
      tx.updateTable('resources').set({ spec }).where('name', '=', 'chat').execute(),
    );
    await plane.restart();
    expect(await plane.status()).toBe(`Pending 0: 0 of 1 replicas are ready: ${problem}`);
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({ waitsFor: 'it cannot be started now' });
  });
});

describe('a model from a registry', () => {
  const endpoint = (name: string) =>
    `apiVersion: twinyard/v1\nkind: Endpoint\nmetadata: {name: chat}\nspec: {engine: {name: vllm}, model: {registry: shelf, name: ${name}}}\n`;
  const registry = (folder: string) =>
    `apiVersion: twinyard/v1\nkind: ModelRegistry\nmetadata: {name: shelf}\nspec: {type: file, url: 'file://${folder}'}\n`;

  test('is downloaded before the engine is started with it', async () => {
    const plane = await FakePlane.open();
    const tiny = join(plane.folder, 'shelf', 'tiny');
    mkdirSync(tiny, { recursive: true });
    writeFileSync(join(tiny, 'config.json'), JSON.stringify(TINY_CONFIG));
    await plane.apply(`${endpoint('tiny')}---\n${registry(join(plane.folder, 'shelf'))}`);
    await plane.until(/^Deploying/);
    expect((await plane.reasons())[0]).toBe('ModelDownloading');
    expect(plane.runners.started[0]!.args.slice(0, 2)).toEqual(['serve', tiny]);
    await plane.ready();
    expect((await plane.shown())!.status).toMatchObject({ phase: 'Running', model: { folder: tiny, layers: 2 } });
    // It is not downloaded again after a pause, nor by the next control plane.
    const { revision } = (await plane.shown())!.status!.model as { revision: string };
    await plane.apply(endpoint('tiny').replace('spec: {', 'spec: {replicas: 0, '));
    expect((await plane.shown())!.status).toMatchObject({ phase: 'Paused', model: { revision } });
    await plane.apply(endpoint('tiny'));
    expect(plane.runners.started).toHaveLength(2);
    await plane.restart();
    expect(plane.runners.started).toHaveLength(2);
  });

  test('that does not exist is a failure, and running replicas stay', async () => {
    const plane = await FakePlane.open();
    const tiny = join(plane.folder, 'shelf', 'tiny');
    mkdirSync(tiny, { recursive: true });
    writeFileSync(join(tiny, 'config.json'), '{}');
    await plane.apply(registry(join(plane.folder, 'shelf')));
    await plane.apply(endpoint('tiny'));
    await plane.until(/^Deploying/);
    await plane.ready();
    await plane.apply(endpoint('large'));
    await plane.until(/^Degraded 1: 1 of 1 replicas are ready: .*model does not exist/);
    expect(plane.routes.routed()).toEqual(['chat-r1']);
  });

  test('is reported again when it fails for another reason', async () => {
    const plane = await FakePlane.open();
    const shelf = join(plane.folder, 'shelf');
    await plane.apply(`${registry(shelf)}---\n${endpoint('tiny')}`);
    await plane.until(/shelf/);
    mkdirSync(shelf);
    await plane.pass(1000);
    await plane.until(/model does not exist/);
    const failures = (await plane.store.events.list({ kind: 'Endpoint' })).filter(({ type }) => type === 'warning');
    expect(failures.map(({ message }) => message.includes('model does not exist'))).toEqual([true, false]);
  });
});

const chatSpec = {
  ...{ cluster: 'local', engine: { name: 'emulator' }, model: { name: 'm', task: 'text-generation' }, replicas: 1 },
  ...{ resources: { gpus: 0 }, placement: 'pack', variables: {}, env: {}, secret_env: {} },
  deployment: { startup_timeout_s: 1, drain_timeout_s: 1, max_surge: 1, max_unavailable: 0 },
};

describe('a restarted control plane', () => {
  test('finds its replicas, routes to ready ones, and continues', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n');
    plane.runners.ready('chat-r1');
    await plane.rest();
    plane.runners.crash('chat-r2');
    await plane.rest();
    plane.routes.remove('default', 'chat');
    await plane.restart();
    expect([plane.routes.routed(), plane.runners.ids]).toEqual([['chat-r1'], ['chat-r1', 'chat-r3']]);
    expect(await plane.reasons()).toContain('Found');
    // It knows that a replica in this place has failed before.
    plane.runners.crash('chat-r3');
    await plane.rest();
    expect(plane.runners.ids).toEqual(['chat-r1', 'chat-r3']);
    await plane.pass(1000);
    expect(plane.runners.ids).toEqual(['chat-r1', 'chat-r4']);
  });

  test('does not know which models replicas of an earlier generation serve', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    await plane.ready();
    await plane.chat('  variables: {speed: 3}\n');
    expect(plane.routes.endpoints.get('default/chat')!.replicas).toMatchObject([{ id: 'chat-r1', models: ['tiny'] }]);
    await plane.restart();
    expect(plane.routes.endpoints.get('default/chat')!.replicas).toMatchObject([{ id: 'chat-r1', models: null }]);
  });

  test('stops replicas of endpoints that do not exist any more', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n');
    await plane.ready();
    await plane.opened.exclusively((tx) => tx.deleteFrom('resources').where('kind', '=', 'Endpoint').execute());
    await plane.restart();
    expect(plane.runners.ids).toEqual([]);
  });

  test('continues deleting', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    await plane.ready();
    plane.routes.busy.add('chat-r1');
    await plane.delete();
    plane.routes.busy.clear();
    await plane.restart();
    expect([await plane.shown(), plane.runners.ids]).toEqual([null, []]);
  });

  test('starts many replicas over several runs', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 9\n');
    await plane.pass(0);
    await plane.pass(0);
    expect(plane.runners.ids).toHaveLength(9);
  });
});
