import { describe, expect, it } from 'vitest';
import { fakeRun, fakeSummary } from './fake-experiment.fixture.js';
import { type ExperimentProgress, simulateRuns } from './run-experiment.js';
import type { RunExecutor } from './runs/executor.js';
import { NO_CACHE, type RunCache } from './runs/run-cache.js';
import { resultBytes, type Shard } from './runs/shard.js';

const runs = [1, 2, 3, 4].map((seed) => fakeRun({ seed }));

const resultOf = (seed: number) => resultBytes(fakeSummary({}, { requests: seed }));

/** Responds on request, with the seed of the run as its number of requests. */
class HeldExecutor implements RunExecutor {
  readonly isShared = false;
  readonly seeds: number[] = [];
  readonly response = new Map<number, () => void>();
  constructor(readonly width = 2) {}

  run({ inputs }: Shard): Promise<string> {
    const { seed } = inputs.config;
    this.seeds.push(seed);
    return new Promise((done) => {
      this.response.set(seed, () => done(resultOf(seed)));
    });
  }

  async close() {}
}

const executor = (run: (shard: Shard) => Promise<string>, isShared = false): RunExecutor => ({
  width: 1,
  isShared,
  run,
  close: async () => {},
});
const bySeed = executor(async ({ inputs }) => resultOf(inputs.config.seed));

function memoryCache(): RunCache & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return { kept, get: async (hash) => kept.get(hash), put: (hash, result) => kept.set(hash, result) !== undefined };
}

const turn = () => new Promise(setImmediate);

describe('simulateRuns', () => {
  it('returns results in the order of the runs, whichever is first', async () => {
    const held = new HeldExecutor();
    const all = simulateRuns(runs, held, memoryCache());
    for (const seed of [2, 3, 1, 4]) {
      while (!held.response.has(seed)) await turn();
      held.response.get(seed)!();
    }
    expect((await all).map(({ requests }) => requests)).toEqual([1, 2, 3, 4]);
    expect(held.seeds).toEqual([1, 2, 3, 4]);
  });

  it('starts at most as many runs at once as the executor handles', async () => {
    const held = new HeldExecutor();
    void simulateRuns(runs, held, memoryCache());
    while (held.seeds.length < 2) await turn();
    for (let i = 0; i < 5; i++) await turn();
    expect(held.seeds).toEqual([1, 2]);
  });

  it('computes nothing twice: neither cached runs nor equal ones', async () => {
    const cache = memoryCache();
    const seeds: number[] = [];
    const counting = executor(async (run) => {
      seeds.push(run.inputs.config.seed);
      return bySeed.run(run);
    });
    await simulateRuns([runs[0]!, runs[2]!, runs[0]!], counting, cache);
    expect(seeds).toEqual([1, 3]);
    const summaries = await simulateRuns(runs, counting, cache);
    expect(seeds).toEqual([1, 3, 2, 4]);
    expect(summaries.map(({ requests }) => requests)).toEqual([1, 2, 3, 4]);
  });

  it('keeps finished runs after an error, and continues from there', async () => {
    const cache = memoryCache();
    const failing = executor(async (run) => {
      if (run.inputs.config.seed === 3) throw new Error('lost');
      return bySeed.run(run);
    });
    await expect(simulateRuns(runs, failing, cache)).rejects.toThrow('lost');
    expect(cache.kept.size).toBe(2);
    const states: ExperimentProgress[] = [];
    await simulateRuns(runs, bySeed, cache, (state) => states.push(state));
    expect(states.map(({ done, computed }) => [done, computed])).toEqual([
      [2, 0],
      [3, 1],
      [4, 2],
    ]);
  });

  it('counts results that could not be cached', async () => {
    const states: ExperimentProgress[] = [];
    await simulateRuns(runs, bySeed, { ...memoryCache(), put: () => false }, (state) => states.push(state));
    expect(states.at(-1)).toEqual({ done: 4, total: 4, computed: 4, notKept: 4 });
  });

  it('keeps of each result what the caller reads, and parses it once', async () => {
    let parsed = 0;
    const twice = [runs[0]!, runs[1]!, runs[0]!];
    const kept = await simulateRuns(twice, bySeed, memoryCache(), undefined, ({ requests }) => {
      parsed++;
      return requests * 10;
    });
    expect(kept).toEqual([10, 20, 10]);
    expect(parsed).toBe(2);
  });

  it('hashes the program where results are kept or come from other processes', async () => {
    const hashesOf = async (isShared: boolean, cache: RunCache) => {
      const hashes: string[] = [];
      const recording = executor(async ({ hash, inputs }) => {
        hashes.push(hash);
        return resultOf(inputs.config.seed);
      }, isShared);
      await simulateRuns([runs[0]!], recording, cache);
      return hashes;
    };
    const local = await hashesOf(false, NO_CACHE);
    const kept = await hashesOf(false, memoryCache());
    expect(await hashesOf(true, NO_CACHE)).toEqual(kept);
    expect(kept).not.toEqual(local);
  });
});
