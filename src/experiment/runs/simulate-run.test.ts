import { describe, expect, it } from 'vitest';
import { fakeRun } from '../fake-experiment.fixture.js';
import { traceRecipe } from '../recipes/trace-recipe.js';
import type { TraceRecipe, WorkloadRecipe } from '../recipes/workload-recipe.js';
import { dependsOnSeed } from '../recipes/workload-recipe.js';
import { inProcessExecutor } from './executor.js';
import { resultBytes } from './shard.js';
import { RunSimulator } from './simulate-run.js';

const SMALL = new URL('../../../examples/small-trace', import.meta.url).pathname;
const small = (changes: Partial<TraceRecipe> = {}) =>
  traceRecipe({
    header: `${SMALL}.yaml`,
    data: `${SMALL}.csv`,
    sessionMode: 'fixed',
    thinkTimeMs: null,
    thinkTimeDist: null,
    maxTurns: null,
    ...changes,
  });
const simulated = async (workload: WorkloadRecipe, seed = 42) =>
  new RunSimulator().simulate(fakeRun({ seed }, workload));

describe('RunSimulator', () => {
  it('returns the same for the same run, alone or after others', async () => {
    const simulator = new RunSimulator();
    const first = await simulator.simulate(fakeRun());
    await simulator.simulate(fakeRun({ seed: 7 }));
    expect(await simulator.simulate(fakeRun())).toEqual(first);
    expect(await simulator.simulate(fakeRun())).toEqual(first);
    expect(first).toMatchObject({ requests: 5, inputTokens: 40 });
  });

  it('replays a trace, with the targets of its header unless others are given', async () => {
    const recipe = await small();
    expect((await simulated(recipe)).requests).toBe(12);
    const simulator = new RunSimulator();
    const own = { goodputTargets: { critical: { ttftUs: 1 }, standard: { ttftUs: 1 }, batch: { ttftUs: 1 } } };
    const { metrics } = await simulator.simulate(fakeRun(own, recipe));
    expect(metrics.slo_attainment).toBe(0);
  });

  it('lets turns wait for responses, twice in a row', async () => {
    const recipe = await small({ sessionMode: 'closed-loop', thinkTimeMs: 100 });
    const simulator = new RunSimulator();
    const first = await simulator.simulate(fakeRun({}, recipe));
    expect(first.requests).toBe(12);
    expect(await simulator.simulate(fakeRun({}, recipe))).toEqual(first);
  });

  it('delays the arrivals of a trace by the seed, and once for each run', async () => {
    const recipe = await small();
    const simulator = new RunSimulator();
    const run = (seed: number) => simulator.simulate(fakeRun({ seed, arrivalJitterUs: 50_000 }, recipe));
    const first = await run(1);
    expect(await run(1)).toEqual(first);
    expect((await run(2)).e2eMs).not.toEqual(first.e2eMs);
  });

  it('draws pauses by the seed', async () => {
    const thinkTimeDist = 'lognormal:mu=0.5,sigma=0.5';
    const recipe = await small({ header: null, sessionMode: 'closed-loop', thinkTimeDist });
    const [a, b] = [await simulated(recipe, 1), await simulated(recipe, 2)];
    expect(a.e2eMs).not.toEqual(b.e2eMs);
  });

  it('cuts sessions short', async () => {
    expect((await simulated(await small({ maxTurns: 1 }))).requests).toBe(8);
  });

  it('generates the traffic of coding agents', async () => {
    const options = { requests: 450, sessions: 102, durationS: 1080 };
    const whole = await simulated({ kind: 'agentic-coder', options, maxTurns: null });
    expect(whole.requests).toBe(450);
    expect((await simulated({ kind: 'agentic-coder', options, maxTurns: 1 })).requests).toBe(102);
  });
});

describe('dependsOnSeed', () => {
  it('holds for generated workloads and for drawn pauses', async () => {
    expect(dependsOnSeed(fakeRun().workload)).toBe(true);
    expect(dependsOnSeed(await small())).toBe(false);
    expect(dependsOnSeed(await small({ sessionMode: 'closed-loop', thinkTimeMs: 5 }))).toBe(false);
    expect(dependsOnSeed(await small({ sessionMode: 'closed-loop', thinkTimeDist: 'constant:value=1s' }))).toBe(true);
  });
});

describe('a trace that changes under way', () => {
  it('is refused: its result would be kept under the hash of the old content', async () => {
    const recipe = await small();
    await expect(simulated({ ...recipe, sha256: 'of the old content' })).rejects.toMatchObject({
      code: 'TRACE_CHANGED',
    });
  });
});

describe('inProcessExecutor', () => {
  it('simulates here', async () => {
    const executor = await inProcessExecutor();
    const result = await executor.run({ hash: '', inputs: fakeRun() });
    expect(result).toBe(resultBytes(await new RunSimulator().simulate(fakeRun())));
    await executor.close();
  });
});
