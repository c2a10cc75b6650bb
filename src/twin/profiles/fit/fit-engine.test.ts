import { describe, expect, it } from 'vitest';
import type { SampleColumns } from '../../../gateway/prediction/request-samples.js';
import { physicsFamily } from '../../../observe/fit/families/physics-family.js';
import { ENGINE, risingLoad } from '../../../observe/fit/planted.fixture.js';
import { loadGpu } from '../../../replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../../replica/catalogue/model-catalogue.js';
import type { LatencyProfile } from '../../../replica/latency/profile.js';
import { sampledTraces } from './engine-traces.js';
import { type FitJob, fitEngine } from './fit-engine.js';
import { plantedSamples } from './planted-samples.fixture.js';
import { scoreProfile } from './profile-score.js';

const FAMILY = physicsFamily(loadModel('qwen/qwen3-14b'), loadGpu('H100'), 1);
const engineOf = (factors: readonly number[]) =>
  FAMILY.costsOf(FAMILY.parameters.map(({ start }, i) => start * factors[i]!));
/** An engine that differs from the data sheets in everything, and one that is much slower. */
const TRUE = engineOf([1.12, 0.9, 1.06, 1.6, 0.7, 0.7]);
const SLOW = engineOf([2.5, 2.5, 2.5, 1.6, 0.7, 0.7]);

const names = { name: 'chat', model: 'qwen/qwen3-14b', hardware: 'H100', tp: 1 };
const profileOf = (costs: typeof TRUE): LatencyProfile => ({ version: 1, ...names, ...costs, scheduler: {} });
const catalogue = { kind: 'catalogue', model: 'qwen/qwen3-14b', hardware: 'H100', tp: 1 } as const;
const job: FitJob = {
  columns: plantedSamples([risingLoad(110, 10), risingLoad(90, 10, 2)], TRUE),
  ...{ engine: ENGINE, start: catalogue, current: null, names },
};
const decodeUs = ({ step }: Pick<LatencyProfile, 'step'>, tokens: number) =>
  step.decodeOnly.find((point) => point.tokens === tokens)!.us;

describe('a profile planted in the samples of two replicas', () => {
  it.each([
    { from: 'the catalogue', start: catalogue },
    { from: 'data alone', start: { kind: 'data' } as const },
  ])('is found again from $from: steps and newer requests within 3 per cent', ({ start }) => {
    let paces = 0;
    const found = fitEngine({ ...job, start }, () => paces++)!;
    for (const tokens of [1, 16]) {
      expect(Math.abs(decodeUs(found.profile, tokens) / decodeUs(TRUE, tokens) - 1), `${tokens}`).toBeLessThan(0.03);
    }
    expect(found.score.itl).toBeLessThan(0.03);
    expect(found.score.e2e).toBeLessThan(0.03);
    // A request that just misses a step waits for the next: single first tokens differ, their mean does not.
    expect(found.score.ttft).toBeLessThan(0.2);
    expect(found.currentScore).toBeNull();
    expect(paces).toBeGreaterThan(2);
    expect(found.profile.scheduler).toMatchObject({ totalKvBlocks: 20_000, maxNumSeqs: 256 });
    expect(found.profile.uncertainty!.step).toBeCloseTo(Math.max(0.01, found.score.itl), 6);
  });
});

describe('an engine that has become slower', () => {
  it('is found from its former profile, which scores far worse', () => {
    const columns = plantedSamples([risingLoad(120, 5)], SLOW);
    const current = profileOf(TRUE);
    const found = fitEngine({ ...job, columns, start: { kind: 'profile', profile: current }, current }, () => {})!;
    expect(found.currentScore!.mean).toBeGreaterThan(0.3);
    expect(found.score.mean).toBeLessThan(0.1);
    expect(Math.abs(decodeUs(found.profile, 1) / decodeUs(SLOW, 1) - 1)).toBeLessThan(0.05);
  });
});

describe('scoreProfile', () => {
  const score = (columns: SampleColumns, costs = TRUE) =>
    scoreProfile(
      profileOf(costs),
      sampledTraces(columns, ENGINE).map((trace) => ({ trace, from: 1 })),
    )!;

  it('finds no error in the profile that the engine has, and much in that of a slower one', () => {
    expect(score(job.columns).mean).toBeLessThan(0.001);
    expect(score(job.columns, SLOW).mean).toBeGreaterThan(0.5);
  });

  it('simulates prompts as far as the engine found them in its cache', () => {
    const table = risingLoad(220, 8);
    const group = table.prefixGroups.index('shared');
    table.prefixTokens[group] = 512;
    for (let row = 0; row < table.count; row++) {
      table.inputTokens[row]! += 512;
      table.prefixGroup[row] = group;
    }
    const unknown = plantedSamples([table], TRUE);
    const cachedTokens = unknown.cachedTokens.map((_, row) => (row === 0 ? 0 : 512));
    expect(score({ ...unknown, cachedTokens }).mean).toBeLessThan(0.02);
    expect(score(unknown).ttft).toBeGreaterThan(0.2);
  });
});

describe('too few requests', () => {
  it('give no profile', () => {
    expect(fitEngine({ ...job, columns: plantedSamples([risingLoad(50, 8)], TRUE) }, () => {})).toBeNull();
  });
});
