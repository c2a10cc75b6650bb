import { expect, test } from 'vitest';
import { InputError, RunError } from '../../../kernel/errors.js';
import { FakePlane } from '../fake-plane.fixture.js';
import { FakeTiming, settled } from '../fake-timing.fixture.js';
import { Reconcilers } from './reconcilers.js';

const CHAT = { kind: 'Endpoint', workspace: 'default', name: 'chat' };

async function opened() {
  const plane = await FakePlane.open();
  const looked: string[] = [];
  const faults: unknown[] = [];
  const work = { fails: null as Error | null };
  const reconcilers = ['Endpoint', 'Engine', 'ModelRegistry'].map((kind) => ({
    kind,
    async reconcile({ name }: { name: string }) {
      looked.push(`${kind} ${name}`);
      if (work.fails !== null) throw work.fails;
      return null;
    },
  }));
  const timing = new FakeTiming();
  const all = new Reconcilers({ store: plane.store, reconcilers, timing, onFault: (error) => faults.push(error) });
  const seen = async () => {
    await settled();
    return looked.splice(0).sort();
  };
  return { plane, all, seen, faults, work, timing };
}

test('all resources are reconciled first, then changed ones and those that depend on them', async () => {
  const { all, plane, seen } = await opened();
  await plane.chat('  replicas: 0\n');
  await all.start();
  expect(await seen()).toEqual([
    'Endpoint chat',
    'Engine emulator',
    'Engine infinity',
    'Engine llama-cpp',
    'Engine sglang',
    'Engine tei',
    'Engine vllm',
  ]);
  const engine = (await plane.store.get({ kind: 'Engine', workspace: '', name: 'emulator' }))!;
  const changed = { ...engine, spec: { ...engine.spec, description: 'mine' } };
  await plane.store.apply('alice', [{ resource: changed, placeOf: (path) => path }]);
  expect(await seen()).toEqual(['Endpoint chat', 'Engine emulator']);
  await plane.store.putStatus(CHAT, (await plane.shown())!.metadata.uid!, { phase: 'Paused' });
  expect(await seen()).toEqual([]);
  await all.close();
  await plane.chat('  replicas: 0\n  env: {A: b}\n');
  expect(await seen()).toEqual([]);
});

test('errors in a resource are written to its status, bugs are reported as faults', async () => {
  const { all, faults, plane, seen, timing, work } = await opened();
  work.fails = new InputError('SECRETS_OTHER_KEY', 'secrets.key', 'is another key', 'put back the right one');
  await plane.chat('  replicas: 0\n');
  await all.start();
  await seen();
  expect((await plane.shown())!.status).toMatchObject({
    phase: 'Failed',
    message: 'secrets.key: is another key; put back the right one',
  });
  expect((await plane.store.events.list(CHAT))[0]).toMatchObject({ type: 'warning', reason: 'Failed' });
  expect(faults).toEqual([]);
  work.fails = new TypeError('oh');
  await timing.pass(1000);
  expect(faults.length).toBeGreaterThan(0);
  work.fails = null;
  await timing.pass(2000);
  faults.length = 0;
  await timing.pass(100_000);
  expect(faults).toEqual([]);
  await all.close();
});

test('a failing store is reported once, until it works again', async () => {
  const { all, faults, plane, seen, timing, work } = await opened();
  work.fails = new RunError('STORE_FAILED', 'the disk is full');
  await plane.chat('  replicas: 0\n');
  await all.start();
  await seen();
  await timing.pass(10_000);
  expect(faults.splice(0)).toEqual([work.fails]);
  work.fails = null;
  await timing.pass(100_000);
  work.fails = new RunError('STORE_FAILED', 'it is full again');
  await plane.chat('  replicas: 1\n');
  await seen();
  expect(faults).toEqual([work.fails]);
  await all.close();
});

test('at a start, resources without routes come first and the rest a few at a time, between which changes are seen', async () => {
  const { plane } = await opened();
  const doc = (kind: string, name: string, spec: string) =>
    `apiVersion: twinyard/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
  const endpoint = '{engine: {name: emulator}, model: {name: qwen/qwen3-14b}, replicas: 0}';
  const names = Array.from({ length: 100 }, (_, i) => `e${i}`);
  await plane.apply(names.map((name) => doc('Endpoint', name, endpoint)).join('---\n'));
  const order: string[] = [];
  const ends: (() => void)[] = [];
  let most = 0;
  const all = new Reconcilers({
    ...{ store: plane.store, timing: new FakeTiming(), onFault: (error) => expect.unreachable(String(error)) },
    reconcilers: [
      {
        kind: 'Endpoint',
        restore: ({ name }) => (name === 'e77' ? 'now' : name === 'e5' ? 'nothing' : 'later'),
        async reconcile({ name }) {
          order.push(name);
          if (name === 'e77' || name === 'chat') return null;
          await new Promise<void>((resolve) => ends.push(resolve));
          return null;
        },
      },
    ],
  });
  await all.start();
  await all.settled('Endpoint').then(() => order.push('settled'), expect.unreachable);
  await settled();
  while (ends.length > 0) {
    most = Math.max(most, ends.length);
    if (!order.includes('chat')) {
      await plane.chat('  replicas: 0\n');
      // The change does not wait for the rest.
      expect(order.at(-1)).toBe('chat');
      expect(order.length).toBeLessThan(names.length);
    }
    for (const end of ends.splice(0)) end();
    await settled();
  }
  expect([order[0], order.includes('e5'), most]).toEqual(['e77', false, 32]);
  expect(new Set(order).size).toBe(names.length + 1);
  await all.close();
});
