import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { InputError } from '../../../kernel/errors.js';
import { TINY_CONFIG } from '../../models/fake-model.fixture.js';
import { missingCommand, willNotEnd } from '../../runner/errors.js';
import { FakePlane } from '../fake-plane.fixture.js';

describe('an endpoint', () => {
  test('is deployed, runs, and its replicas get requests when they are ready', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n  variables: {speed: 10}\n  env: {A: b}\n  secret_env: {TOKEN: hush}\n');
    expect(await plane.status()).toBe('Deploying 0: 0 of 2 replicas are ready');
    expect(plane.runner.started).toHaveLength(2);
    expect(plane.runner.started[0]).toMatchObject({
      id: 'chat-r1',
      workspace: 'default',
      endpoint: 'chat',
      command: 'twinyard',
      args: expect.arrayContaining(['engine', '--served-model-name', 'tiny', '--port', '{{port}}', '--speed=10']),
      env: { A: 'b', TOKEN: 'hush' },
      healthPath: '/health',
      startupTimeoutMs: 1_800_000,
    });
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({
      models: ['tiny'],
      replicas: [],
      waitsFor: 'its replicas are starting',
      policy: { name: 'weighted' },
    });
    plane.runner.ready('chat-r1');
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

  test('is scaled down when the requests of those who leave have ended', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n');
    await plane.ready();
    plane.routes.busy.add('chat-r1').add('chat-r2');
    await plane.chat('  replicas: 1\n');
    expect([plane.routes.routed(), plane.runner.stopped]).toEqual([['chat-r2'], []]);
    expect(await plane.status()).toBe('Running 1: 1 replica is leaving');
    plane.routes.end('chat-r1');
    await plane.rest();
    expect([plane.runner.stopped, await plane.status()]).toEqual([['chat-r1'], 'Running 1: ']);
    expect((await plane.reasons()).slice(-2)).toEqual(['Leaving', 'Stopped']);
  });

  test('pauses without replicas, and comes back', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    await plane.ready();
    await plane.chat('  replicas: 0\n');
    expect([await plane.status(), plane.runner.ids]).toEqual(['Paused 0: ', []]);
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({ waitsFor: 'it is paused', isIdle: true });
    await plane.chat('');
    await plane.ready();
    expect(await plane.status()).toBe('Running 1: ');
  });

  test('is updated one by one, and nobody leaves before another is ready', async () => {
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

  test('is deleted when its last replica is gone', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    await plane.ready();
    plane.routes.busy.add('chat-r1');
    await plane.delete();
    expect([plane.routes.endpoints.size, await plane.status()]).toEqual([0, 'Deleting 0: waits for 1 replica to end']);
    plane.routes.end('chat-r1');
    await plane.rest();
    expect([await plane.shown(), plane.runner.ids]).toEqual([null, []]);
  });
});

describe('what goes wrong', () => {
  test('a crash is followed by another start, later and later, with what the engine said last', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    plane.runner.crash('chat-r1', ['loading', 'no such model']);
    await plane.rest();
    expect(plane.runner.ids).toEqual(['chat-r2']);
    expect(await plane.status()).toBe('Failed 0: 0 of 1 replicas are ready: a replica exited with code 1');
    // It was started again at once: who asks now may well wait for it.
    expect(plane.routes.endpoints.get('default/chat')).not.toHaveProperty('isIdle');
    expect((await plane.shown())!.status!.last_lines).toEqual(['loading', 'no such model']);
    plane.runner.crash('chat-r2', ['again']);
    await plane.rest();
    expect((await plane.shown())!.status).toMatchObject({
      last_lines: ['again'],
      replicas: [{ id: 'chat-r2', phase: 'exited', restarts: 1, message: 'exited with code 1' }],
    });
    expect(await plane.status()).toMatch(/exited with code 1; the next try is at 00:16:41 UTC$/);
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({
      waitsFor: 'its replicas fail again and again',
      isIdle: true,
    });
    await plane.pass(999);
    expect(plane.runner.ids).toEqual(['chat-r2']);
    await plane.pass(1);
    expect(plane.runner.ids).toEqual(['chat-r3']);
    await plane.ready();
    expect(await plane.status()).toBe('Running 1: ');
    expect((await plane.shown())!.status).not.toHaveProperty('last_lines');
    expect(await plane.reasons()).toContain('Exited');
  });

  test('one that crashes again and again is told once, with how often', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    for (let i = 1; i <= 6; i++) {
      plane.runner.crash(`chat-r${i}`, [`12:00:0${i} no such model`]);
      await plane.rest();
      await plane.pass(i === 1 ? 0 : 1000 * 2 ** (i - 2));
    }
    expect(await plane.happened()).toEqual([
      [1, 'Started', 'replica chat-r1 was started'],
      [1, 'Deploying', '0 of 1 replicas are ready'],
      [1, 'Exited', 'replica chat-r1 exited with code 1; it said last: 12:00:01 no such model'],
      [1, 'Started', 'replica chat-r2 was started'],
      [1, 'Failed', 'a replica exited with code 1'],
      [5, 'Exited', 'a replica exited with code 1, as one before it did'],
    ]);
    // Also while one of them is starting: it is not the first.
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({ isIdle: true });
    await plane.ready();
    expect(plane.routes.endpoints.get('default/chat')).not.toHaveProperty('isIdle');
    expect((await plane.happened()).at(-1)).toEqual([1, 'Running', 'its replica is ready']);
  });

  test('an update that fails again and again is no reason to turn clients away from who serves', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    await plane.ready();
    await plane.chat('  variables: {speed: 2}\n');
    for (const id of ['chat-r2', 'chat-r3', 'chat-r4']) {
      plane.runner.crash(id);
      await plane.rest();
      await plane.pass(2000);
    }
    expect(await plane.status()).toMatch(/^Degraded 1: /);
    expect(plane.routes.routed()).toEqual(['chat-r1']);
    expect(plane.routes.endpoints.get('default/chat')).not.toHaveProperty('isIdle');
  });

  test('one of several that crashes makes it degraded, and is routed to no more at once', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n');
    await plane.ready();
    plane.endpoints.lose({ id: 'chat-r1', workspace: 'default', endpoint: 'chat' });
    expect(plane.routes.routed()).toEqual(['chat-r2']);
    plane.endpoints.lose({ id: 'chat-r1', workspace: 'default', endpoint: 'chat' });
    plane.endpoints.lose({ id: 'r', workspace: 'default', endpoint: 'nobody' });
    plane.runner.crash('chat-r1');
    await plane.rest();
    expect(await plane.status()).toMatch(/^Degraded 1: 1 of 2 replicas are ready: a replica exited with code 1/);
    plane.runner.ready('chat-r3');
    await plane.rest();
    expect([plane.routes.routed(), await plane.status()]).toEqual([['chat-r2', 'chat-r3'], 'Running 2: ']);
  });

  test('one that does not say any more that it is well gets no requests until it does', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n');
    await plane.ready();
    plane.runner.unready('chat-r2');
    await plane.rest();
    expect([plane.routes.routed(), await plane.status()]).toEqual([
      ['chat-r1'],
      'Degraded 1: 1 of 2 replicas are ready: replica chat-r2 does not say that it is well any more',
    ]);
    await plane.ready();
    expect(await plane.status()).toBe('Running 2: ');
    plane.runner.unready('chat-r1');
    await plane.rest();
    await plane.pass(120_000);
    expect([plane.runner.stopped, plane.runner.ids]).toEqual([['chat-r1'], ['chat-r2', 'chat-r3']]);
  });

  test('what does not fit waits with what is free, and is started when there is room', async () => {
    const plane = await FakePlane.open();
    plane.runner.room = 1;
    await plane.chat('  replicas: 2\n');
    expect(await plane.status()).toBe('Pending 0: 0 of 2 replicas are ready: does not fit: it wants 1 CPUs; free: 0');
    // One of them is starting.
    expect(plane.routes.endpoints.get('default/chat')).not.toHaveProperty('isIdle');
    await plane.ready();
    expect(await plane.status()).toMatch(/^Degraded 1: 1 of 2 .* does not fit/);
    plane.runner.room = 2;
    await plane.pass(4999);
    expect(plane.runner.ids).toHaveLength(1);
    await plane.pass(1);
    expect(plane.runner.ids).toHaveLength(2);
    expect(plane.endpoints.roomFreed()).toEqual([]);
    await plane.chat('  replicas: 3\n');
    plane.runner.room = 3;
    expect(plane.endpoints.roomFreed()).toEqual(['Endpoint/default/chat']);
    await plane.reborn();
    expect(plane.runner.ids).toHaveLength(3);
  });

  test('clients of one that has no room at all are told at once', async () => {
    const plane = await FakePlane.open();
    plane.runner.room = 0;
    await plane.chat('');
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({
      waitsFor: 'there is no room for its replicas',
      isIdle: true,
    });
    expect(await plane.happened()).toEqual([[1, 'NoRoom', expect.stringContaining('does not fit')]]);
  });

  test('a program that is not there is a failure, tried again later', async () => {
    const plane = await FakePlane.open();
    plane.runner.startFails = missingCommand('vllm', 'on the PATH');
    await plane.chat('');
    expect(await plane.status()).toMatch(/^Failed 0: 0 of 1 replicas are ready: command 'vllm': is not a program/);
    expect(await plane.reasons()).toEqual(['NotStarted']);
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({
      waitsFor: 'its replicas cannot be started',
      isIdle: true,
    });
    plane.runner.startFails = missingCommand('vllm', 'on the PATH');
    await plane.pass(1000);
    expect(await plane.happened()).toEqual([[2, 'NotStarted', expect.stringContaining("command 'vllm'")]]);
    await plane.pass(1999);
    expect(plane.runner.ids).toEqual([]);
    await plane.pass(1);
    expect(plane.runner.ids).toHaveLength(1);
    expect(plane.routes.endpoints.get('default/chat')).not.toHaveProperty('isIdle');
  });

  test('a name that the gateway cannot have is told, and a replica that will not end is told again', async () => {
    const plane = await FakePlane.open();
    plane.routes.putFails = new InputError('X', 'endpoint', 'is taken', 'give another name');
    await plane.chat('');
    await plane.ready();
    expect(await plane.status()).toBe('Failed 1: it gets no requests: endpoint: is taken; give another name');
    plane.routes.putFails = null;
    await plane.pass(5000);
    expect(await plane.status()).toBe('Running 1: ');
    plane.runner.stopFails = willNotEnd('chat-r1');
    await plane.chat('  replicas: 0\n');
    expect([plane.runner.ids, await plane.status()]).toEqual([['chat-r1'], 'Paused 0: 1 replica is leaving']);
    await plane.pass(1000);
    expect([plane.runner.ids, plane.faults]).toEqual([[], [willNotEnd('chat-r1')]]);
  });

  test.each([
    [{ cluster: 'moon' }, "there is no cluster 'moon' that could run it"],
    [{ engine: { name: 'nobody' } }, "there is no engine 'nobody'"],
    [{ model: { registry: 'shelf', name: 'm', task: 'text-generation' } }, "there is no model registry 'shelf'"],
  ])('what it names and is not there is waited for: %j', async (more, problem) => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 0\n');
    // As when a store was filled by an older edition, or by hand.
    const spec = JSON.stringify({ ...chatSpec, ...more });
    await plane.opened.exclusively((tx) =>
      tx.updateTable('resources').set({ spec }).where('name', '=', 'chat').execute(),
    );
    await plane.reborn();
    expect(await plane.status()).toBe(`Pending 0: 0 of 1 replicas are ready: ${problem}`);
    expect(plane.routes.endpoints.get('default/chat')).toMatchObject({ waitsFor: 'it cannot be started now' });
  });
});

describe('a model from a registry', () => {
  const endpoint = (name: string) =>
    `apiVersion: twinyard/v1\nkind: Endpoint\nmetadata: {name: chat}\nspec: {engine: {name: vllm}, model: {registry: shelf, name: ${name}}}\n`;
  const registry = (folder: string) =>
    `apiVersion: twinyard/v1\nkind: ModelRegistry\nmetadata: {name: shelf}\nspec: {type: file, url: 'file://${folder}'}\n`;

  test('is waited for, fetched, and given to the engine', async () => {
    const plane = await FakePlane.open();
    const tiny = join(plane.folder, 'shelf', 'tiny');
    mkdirSync(tiny, { recursive: true });
    writeFileSync(join(tiny, 'config.json'), JSON.stringify(TINY_CONFIG));
    await plane.apply(`${endpoint('tiny')}---\n${registry(join(plane.folder, 'shelf'))}`);
    await plane.until(/^Deploying/);
    expect((await plane.reasons())[0]).toBe('ModelDownloading');
    expect(plane.runner.started[0]!.args.slice(0, 2)).toEqual(['serve', tiny]);
    await plane.ready();
    expect((await plane.shown())!.status).toMatchObject({ phase: 'Running', model: { folder: tiny, layers: 2 } });
    // A pause does not forget it, and neither does another control plane.
    const { revision } = (await plane.shown())!.status!.model as { revision: string };
    await plane.apply(endpoint('tiny').replace('spec: {', 'spec: {replicas: 0, '));
    expect((await plane.shown())!.status).toMatchObject({ phase: 'Paused', model: { revision } });
    await plane.apply(endpoint('tiny'));
    expect(plane.runner.started).toHaveLength(2);
    await plane.reborn();
    expect(plane.runner.started).toHaveLength(2);
  });

  test('that is not there is a failure, and what runs goes on', async () => {
    const plane = await FakePlane.open();
    const tiny = join(plane.folder, 'shelf', 'tiny');
    mkdirSync(tiny, { recursive: true });
    writeFileSync(join(tiny, 'config.json'), '{}');
    await plane.apply(registry(join(plane.folder, 'shelf')));
    await plane.apply(endpoint('tiny'));
    await plane.until(/^Deploying/);
    await plane.ready();
    await plane.apply(endpoint('large'));
    await plane.until(/^Degraded 1: 1 of 1 replicas are ready: .*there is no such model/);
    expect(plane.routes.routed()).toEqual(['chat-r1']);
  });

  test('that cannot be had for another reason than before is told again', async () => {
    const plane = await FakePlane.open();
    const shelf = join(plane.folder, 'shelf');
    await plane.apply(`${registry(shelf)}---\n${endpoint('tiny')}`);
    await plane.until(/shelf/);
    mkdirSync(shelf);
    await plane.pass(1000);
    await plane.until(/there is no such model/);
    const failures = (await plane.store.events.list({ kind: 'Endpoint' })).filter(({ type }) => type === 'warning');
    expect(failures.map(({ message }) => message.includes('there is no such model'))).toEqual([true, false]);
  });
});

const chatSpec = {
  ...{ cluster: 'local', engine: { name: 'emulator' }, model: { name: 'm', task: 'text-generation' }, replicas: 1 },
  ...{ resources: { gpus: 0 }, placement: 'pack', variables: {}, env: {}, secret_env: {} },
  deployment: { startup_timeout_s: 1, drain_timeout_s: 1, max_surge: 1, max_unavailable: 0 },
};

describe('a control plane that begins again', () => {
  test('finds its replicas, routes to those who are ready, and goes on', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n');
    plane.runner.ready('chat-r1');
    await plane.rest();
    plane.runner.crash('chat-r2');
    await plane.rest();
    plane.routes.remove('default', 'chat');
    await plane.reborn();
    expect([plane.routes.routed(), plane.runner.ids]).toEqual([['chat-r1'], ['chat-r1', 'chat-r3']]);
    expect(await plane.reasons()).toContain('Found');
    // It knows that this is the second in its place.
    plane.runner.crash('chat-r3');
    await plane.rest();
    expect(plane.runner.ids).toEqual(['chat-r1', 'chat-r3']);
    await plane.pass(1000);
    expect(plane.runner.ids).toEqual(['chat-r1', 'chat-r4']);
  });

  test('asks those of an earlier edition what they serve', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    await plane.ready();
    await plane.chat('  variables: {speed: 3}\n');
    expect(plane.routes.endpoints.get('default/chat')!.replicas).toMatchObject([{ id: 'chat-r1', models: ['tiny'] }]);
    await plane.reborn();
    expect(plane.routes.endpoints.get('default/chat')!.replicas).toMatchObject([{ id: 'chat-r1', models: null }]);
  });

  test('ends replicas of endpoints that are no more', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 2\n');
    await plane.ready();
    await plane.opened.exclusively((tx) => tx.deleteFrom('resources').where('kind', '=', 'Endpoint').execute());
    await plane.reborn();
    expect(plane.runner.ids).toEqual([]);
  });

  test('goes on deleting', async () => {
    const plane = await FakePlane.open();
    await plane.chat('');
    await plane.ready();
    plane.routes.busy.add('chat-r1');
    await plane.delete();
    plane.routes.busy.clear();
    await plane.reborn();
    expect([await plane.shown(), plane.runner.ids]).toEqual([null, []]);
  });

  test('starts many replicas without losing sight of the rest', async () => {
    const plane = await FakePlane.open();
    await plane.chat('  replicas: 9\n');
    await plane.pass(0);
    await plane.pass(0);
    expect(plane.runner.ids).toHaveLength(9);
  });
});
