import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ModelCache } from '../../models/cache/model-cache.js';
import { FakeClock } from '../../models/fake-clock.fixture.js';
import { FakeHub } from '../../models/fake-hub.fixture.js';
import { safetensors, TINY_CONFIG, tinyModel } from '../../models/fake-model.fixture.js';
import { openRegistry } from '../../models/registry.js';
import { FakeTiming } from '../fake-timing.fixture.js';
import type { RequestedModel } from './fetch-model.js';
import { ModelFetches, type ModelOrigin } from './model-fetches.js';
import type { ModelState } from './model-state.js';

let folder: string;
let hub: FakeHub;
let timing: FakeTiming;
let clock: FakeClock;
let fetches: ModelFetches;
let onChange: () => void;
let changes: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-fetches-'));
  hub = await FakeHub.start();
  const weights = safetensors({ w: { dtype: 'BF16', shape: [64, 64] } });
  hub.put('acme/tiny', 'main', { ...tinyModel('one'), 'model.safetensors': weights });
  timing = new FakeTiming();
  clock = new FakeClock();
  fetches = await begun();
});
afterEach(async () => {
  fetches.close();
  await hub.stop();
  rmSync(folder, { recursive: true });
});

async function begun(): Promise<ModelFetches> {
  changes = 0;
  onChange = () => {};
  const changed = () => {
    changes++;
    onChange();
  };
  return new ModelFetches({
    cache: await ModelCache.open(join(folder, 'cache')),
    timing,
    clock,
    changed,
  });
}

const requested = (change: Partial<RequestedModel> = {}): RequestedModel => ({
  ...{ registry: 'hub', source: hub.url, name: 'acme/tiny', version: null, file: null },
  ...change,
});
const fromHub = (edition = '1'): ModelOrigin => ({
  edition,
  keepsRevisions: true,
  open: () => openRegistry('hugging-face', { url: hub.url }, new FakeClock()),
});
const fromFolder = (): ModelOrigin => ({
  edition: '1',
  keepsRevisions: false,
  open: () => openRegistry('file', { url: pathToFileURL(join(folder, 'models')).href }),
});

/** The state of a fetch once it is no longer under way. */
async function settledState(model: RequestedModel, origin = fromHub(), known: Record<string, unknown> | null = null) {
  for (;;) {
    const state = fetches.stateOf('k', model, origin, known);
    if (state.state !== 'fetching') return state;
    await new Promise<void>((resolve) => {
      onChange = resolve;
    });
  }
}
const factsOf = (state: ModelState) => (state.state === 'ready' ? { ...state.model!.facts } : null);

describe('a model', () => {
  test('is downloaded in the background, with its progress and its properties', async () => {
    expect(fetches.stateOf('k', requested(), fromHub(), null)).toEqual({
      state: 'fetching',
      bytes: 0,
      total: 0,
      quietMs: 0,
    });
    const state = await settledState(requested());
    expect(factsOf(state)).toMatchObject({
      ...requested(),
      found_version: 'main',
      architecture: 'LlamaForCausalLM',
      layers: 2,
      kv_heads: 2,
      dtype: 'bfloat16',
      parameters: 4096,
    });
    expect(changes).toBeGreaterThan(0);
  });

  test('is reported as stalled when no data arrives for a while', async () => {
    const lone = requested({ name: 'acme/lone' });
    hub.put('acme/lone', 'main', { 'model.safetensors': safetensors({ w: { dtype: 'BF16', shape: [8] } }) });
    let goOn = () => {};
    const asksForWeights = new Promise<void>((resolve) => {
      hub.once('/blobs/', (response) => {
        goOn = () => response.destroy();
        resolve();
      });
    });
    fetches.stateOf('k', lone, fromHub(), null);
    await asksForWeights;
    await timing.pass(10_000);
    const before = changes;
    clock.pass(10_000);
    expect(changes).toBe(before + 1);
    expect(fetches.stateOf('k', lone, fromHub(), null)).toMatchObject({ state: 'fetching', quietMs: 10_000 });
    goOn();
    expect((await settledState(lone)).state).toBe('ready');
  });

  test('is not downloaded again by the next control plane, even if its branch has moved', async () => {
    const facts = factsOf(await settledState(requested()))!;
    fetches.close();
    fetches = await begun();
    hub.put('acme/tiny', 'main', tinyModel('two'));
    hub.requests.length = 0;
    const again = fetches.stateOf('k', requested(), fromHub(), facts);
    expect([factsOf(again), hub.requests]).toEqual([facts, []]);
    // Another version is downloaded; and so is a model that was removed, at the same revision.
    expect(fetches.stateOf('k', requested({ version: 'v2' }), fromHub(), facts).state).toBe('fetching');
    rmSync(join(folder, 'cache'), { recursive: true });
    fetches.close();
    fetches = await begun();
    expect(factsOf(await settledState(requested(), fromHub(), facts))).toMatchObject({ revision: facts.revision });
  });

  test('is used in place when its registry is a folder, as one file if requested', async () => {
    const home = join(folder, 'models', 'tiny');
    mkdirSync(home, { recursive: true });
    for (const part of ['a-00001-of-00002.gguf', 'a-00002-of-00002.gguf']) writeFileSync(join(home, part), part);
    const file = 'a-00001-of-00002.gguf';
    const state = await settledState(requested({ name: 'tiny', file }), fromFolder());
    expect(state).toMatchObject({ state: 'ready', model: { path: join(home, file) } });
    expect(factsOf(state)).toMatchObject({ problem: expect.stringContaining('config.json') });
    const facts = factsOf(state);
    writeFileSync(join(home, 'config.json'), JSON.stringify(TINY_CONFIG));
    fetches.forget('k');
    expect(await settledState(requested({ name: 'tiny', file }), fromFolder(), facts)).toMatchObject({
      state: 'ready',
    });
    expect(await settledState(requested({ name: 'tiny', file: 'b.gguf' }), fromFolder())).toEqual({
      state: 'failed',
      isTransient: false,
      message: expect.stringContaining("has no file 'b.gguf'"),
      retryAt: expect.any(Number),
    });
  });

  test('is retried later when it fails, and at once when its registry has changed', async () => {
    const failed = await settledState(requested({ name: 'acme/none' }));
    expect(failed).toMatchObject({
      state: 'failed',
      isTransient: false,
      message: expect.stringContaining('model does not exist'),
    });
    hub.put('acme/none', 'main', tinyModel('late'));
    expect(await settledState(requested({ name: 'acme/none' }))).toBe(failed);
    await timing.pass(1000);
    onChange = () => {};
    expect((await settledState(requested({ name: 'acme/none' }), fromHub('2'))).state).toBe('ready');
    // A model that is ready is not affected.
    expect(fetches.stateOf('k', requested({ name: 'acme/none' }), fromHub('3'), null).state).toBe('ready');
  });

  test('is not downloaded to the end when it is not needed any more', async () => {
    fetches.stateOf('k', requested(), fromHub(), null);
    fetches.forget('k');
    fetches.forget('k');
    await settledState(requested({ version: 'main' }));
    expect(timing.next).toBeNull();
  });
});
