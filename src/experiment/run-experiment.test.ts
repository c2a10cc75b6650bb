import { describe, expect, it } from 'vitest';
import type { RunInputs } from './experiment.js';
import { fakeRun, fakeSummary } from './fake-experiment.fixture.js';
import { type ExperimentProgress, simulateRuns } from './run-experiment.js';
import type { RunExecutor } from './runs/executor.js';
import type { RunCache } from './runs/run-cache.js';
import type { RunSummary } from './runs/run-summary.js';

const runs = [1, 2, 3, 4].map((seed) => fakeRun({ seed }));

/** Responds on request, with the seed of the run as its number of requests. */
class HeldExecutor implements RunExecutor {
  readonly seeds: number[] = [];
  readonly response = new Map<number, () => void>();
  constructor(readonly width = 2) {}

  run({ config }: RunInputs): Promise<RunSummary> {
    this.seeds.push(config.seed);
    return new Promise((done) => {
      this.response.set(config.seed, () => done(fakeSummary({}, { requests: config.seed })));
    });
  }

  async close() {}
}

const executor = (run: (inputs: RunInputs) => Promise<RunSummary>): RunExecutor => ({
  width: 1,
  run,
  close: async () => {},
});
const bySeed = executor(async ({ config }) => fakeSummary({}, { requests: config.seed }));

function memoryCache(): RunCache & { kept: Map<string, RunSummary> } {
  const kept = new Map<string, RunSummary>();
  return { kept, get: async (key) => kept.get(key), put: (key, summary) => kept.set(key, summary) !== undefined };
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
      seeds.push(run.config.seed);
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
      if (run.config.seed === 3) throw new Error('lost');
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
});
