import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cataloguePath } from '../../replica/catalogue/catalogue-path.js';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import type { RunInputs } from '../experiment.js';
import { fakeRecipe, fakeRun } from '../fake-experiment.fixture.js';
import { traceRecipe } from '../recipes/trace-recipe.js';
import { programFingerprint, runKeys } from './run-key.js';

const keyOf = (run: RunInputs, program = 'p') => runKeys([run], program)[0]!;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-key-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('runKeys', () => {
  it('are the same for the same run, in any order of keys', () => {
    const { config, workload } = fakeRun();
    const turned = {
      workload,
      config: Object.fromEntries(Object.entries(config).reverse()) as unknown as typeof config,
    };
    expect(keyOf(turned)).toBe(keyOf(fakeRun()));
    expect(keyOf(fakeRun())).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each<[string, RunInputs]>([
    ['the seed', fakeRun({ seed: 43 })],
    ['an option of the policy', fakeRun({ routing: { policy: 'round-robin', options: { x: 1 } } })],
    ['the workload', fakeRun({}, fakeRecipe(6))],
  ])('change with %s', (_, other) => {
    expect(keyOf(other)).not.toBe(keyOf(fakeRun()));
  });

  it('change with a latency profile, whose model need not be in the catalogue', () => {
    const runWith = (requestUs: number) => {
      const { config, workload } = fakeRun();
      const replica = { ...config.replica, model: 'our/own', latencyProfile: fakeProfile({ requestUs }) };
      return { config: { ...config, replica }, workload };
    };
    expect(keyOf(runWith(1))).toBe(keyOf(runWith(1)));
    expect(keyOf(runWith(2))).not.toBe(keyOf(runWith(1)));
  });

  it('change with the program', () => {
    expect(keyOf(fakeRun(), 'q')).not.toBe(keyOf(fakeRun(), 'p'));
  });

  it("change with the content of a user's model file, not with its path", () => {
    const runIn = (modelConfigFolder: string) => {
      const { config, workload } = fakeRun();
      return { config: { ...config, replica: { ...config.replica, modelConfigFolder } }, workload };
    };
    for (const name of ['one', 'two', 'three']) {
      cpSync(join(cataloguePath('models'), 'qwen3-14b'), join(folder, name), { recursive: true });
    }
    const file = join(folder, 'three', 'config.json');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/"num_hidden_layers": \d+/, '"num_hidden_layers": 1'));
    const [one, two, three] = ['one', 'two', 'three'].map((name) => keyOf(runIn(join(folder, name))));
    expect(two).toBe(one);
    expect(three).not.toBe(one);
  });

  it('change with the content of a trace, not with its path', async () => {
    const runOf = async (name: string, text: string) => {
      const data = join(folder, name);
      writeFileSync(data, text);
      const replayed = { sessionMode: 'fixed', thinkTimeMs: null, thinkTimeDist: null, maxTurns: null };
      return keyOf(fakeRun({}, await traceRecipe({ header: null, data, ...replayed })));
    };
    expect(await runOf('b', 'text')).toBe(await runOf('a', 'text'));
    expect(await runOf('b', 'other')).not.toBe(await runOf('a', 'text'));
  });
});

describe('programFingerprint', () => {
  it('is the same twice', async () => {
    expect(await programFingerprint()).toBe(await programFingerprint());
  });
});
