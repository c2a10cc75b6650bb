import { describe, expect, it } from 'vitest';
import { loadGpu } from '../../replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../replica/catalogue/model-catalogue.js';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import { parseProfile, profileText } from '../../replica/latency/profile-file.js';
import { physicsFamily } from './families/physics-family.js';
import { scaledFamily } from './families/scaled-family.js';
import { type FitOptions, fitProfile } from './fit-profile.js';
import { ENGINE, ladder, PLANTED, plantedSteps, plantedTrace, risingLoad } from './planted.fixture.js';

const model = loadModel('qwen/qwen3-14b');
const gpu = loadGpu('H100');
const FAMILY = physicsFamily(model, gpu, 1);
const OPTIONS: FitOptions = { name: 'found', model: 'qwen/qwen3-14b', hardware: 'H100', tp: 1, start: { model, gpu } };

/** What an engine would be like that differs from the data sheets in everything. */
const FACTORS = [1.12, 0.9, 1.06, 1.6, 0.7, 0.7];
const TRUE_VALUES = FAMILY.parameters.map(({ start }, i) => start * FACTORS[i]!);
const TRUE = FAMILY.costsOf(TRUE_VALUES);

describe('coefficients planted in a simulated trace', () => {
  const trace = plantedTrace('ladder', ladder(31), TRUE);
  const options = { ...OPTIONS, doubt: 10 };
  const { profile, report } = fitProfile({ traces: [trace] }, options);

  const trueOf = (name: string) => TRUE_VALUES[FAMILY.parameters.findIndex((one) => one.name === name)]!;
  const foundOf = (name: string) => report.parameters.find((one) => one.name === name)!.value;

  it('come back within 2 %, and lie in the ranges that are given for them', () => {
    const known = report.parameters.filter(({ low }) => low !== null).map(({ name }) => name);
    expect(known).toEqual(expect.arrayContaining(['weights_us', 'token_us', 'context_us', 'queueing_us']));
    for (const name of ['weights_us', 'token_us', 'context_us', 'queueing_us']) {
      expect(Math.abs(foundOf(name) / trueOf(name) - 1), name).toBeLessThan(0.02);
    }
    for (const { name, low, high } of report.parameters) {
      // Nothing is reported where the range would be useless.
      if (low === null || high === null) continue;
      expect([name, low < trueOf(name), trueOf(name) < high]).toEqual([name, true, true]);
    }
  });

  it('tell the cost of requests in a full batch, which two of them share', () => {
    const inBatch = (of: (name: string) => number) => 128 * (of('request_us') + 128 * of('crowd_us'));
    expect(Math.abs(inBatch(foundOf) / inBatch(trueOf) - 1)).toBeLessThan(0.02);
  });

  it('predict the held-out part', () => {
    const [{ fitted, heldOut }] = report.requests as [NonNullable<typeof report.requests>[0]];
    expect(fitted.requests).toBe(trace.table.count);
    for (const error of [heldOut!.ttft, heldOut!.itl, heldOut!.e2e]) expect(Math.abs(error)).toBeLessThan(0.01);
    const used = trace.table.count;
    expect(report.data).toEqual([{ name: 'ladder', kind: 'requests', used, heldOut: heldOut!.requests }]);
  });

  it('make a profile that is named, knows the settings of the engine, and can be kept in a file', () => {
    expect(profile).toMatchObject({
      name: 'found',
      hardware: 'H100',
      scheduler: { totalKvBlocks: 20_000, maxNumSeqs: 256 },
    });
    expect(parseProfile(profileText(profile, report), 'found.json')).toMatchObject({ name: 'found' });
  });

  it('are the same every time', () => {
    expect(fitProfile({ traces: [trace] }, options).profile).toEqual(profile);
  });
});

describe('hardware that is not that of the data sheet', () => {
  it('is found, and reported', () => {
    const quarter = FAMILY.costsOf(FAMILY.parameters.map(({ start }, i) => start * (i < 3 ? 3.9 : 1)));
    const { report } = fitProfile({ traces: [plantedTrace('quarter', risingLoad(300, 6), quarter)] }, OPTIONS);
    const found = new Map(report.parameters.map(({ name, value }) => [name, value]));
    for (const { name, start } of FAMILY.parameters.slice(0, 3)) {
      expect(Math.abs(found.get(name)! / (3.9 * start) - 1), name).toBeLessThan(0.1);
    }
    expect(report.notes.join(' ')).toMatch(/Not the hardware of the data sheet: .* are 3\.\d+ times what H100/);
    expect(report.notes.join(' ')).not.toContain('times what was expected');
  });
});

describe('traffic in which arrival times matter', () => {
  it('is predicted, even where it leaves some parameters open', () => {
    const { report } = fitProfile({ traces: [plantedTrace('rising', risingLoad(500, 14), TRUE)] }, OPTIONS);
    const { heldOut } = report.requests![0]!;
    for (const error of [heldOut!.itl, heldOut!.e2e]) expect(Math.abs(error)).toBeLessThan(0.02);
    expect(Math.abs(heldOut!.ttft)).toBeLessThan(0.05);
    expect(report.notes.join(' ')).toMatch(/^The data shows little about .*request_us/);
  });
});

describe('unknown settings', () => {
  it('are those that explain most', () => {
    const engine = { ...ENGINE, maxNumBatchedTokens: 1024, engineRules: 'vllm-v1-async' };
    const trace = plantedTrace('unknown', risingLoad(400, 16), TRUE, { engine });
    const search = { maxNumBatchedTokens: [2048, 1024], engineRules: ['vllm-v1', 'vllm-v1-async'] };
    const { profile, report } = fitProfile({ traces: [{ ...trace, engine: ENGINE }] }, { ...OPTIONS, search });
    expect(profile.scheduler).toMatchObject({ maxNumBatchedTokens: 1024, engineRules: 'vllm-v1-async' });
    expect(report.tried!.map(({ settings }) => settings)).toEqual([
      { maxNumBatchedTokens: 2048, engineRules: 'vllm-v1' },
      { maxNumBatchedTokens: 2048, engineRules: 'vllm-v1-async' },
      { maxNumBatchedTokens: 1024, engineRules: 'vllm-v1' },
      { maxNumBatchedTokens: 1024, engineRules: 'vllm-v1-async' },
    ]);
    const losses = report.tried!.map(({ loss }) => loss);
    expect(Math.min(...losses)).toBe(losses[3]);
  });

  it("include the client's cap on requests under way", () => {
    const trace = plantedTrace('capped', risingLoad(120, 60), TRUE, { maxInFlight: 24 });
    const search = { maxInFlight: [Number.POSITIVE_INFINITY, 24] };
    const free = { ...trace, maxInFlight: Number.POSITIVE_INFINITY };
    const { profile, report } = fitProfile({ traces: [free] }, { ...OPTIONS, search });
    expect(report.tried![1]!.loss).toBeLessThan(0.1 * report.tried![0]!.loss);
    // It is the client's, not the engine's.
    expect(profile.scheduler).not.toHaveProperty('maxInFlight');
  });
});

describe('steps and requests together', () => {
  it('take the costs of steps from the steps, and the rest from requests', () => {
    const request = { queueingUs: 6000, outputTokenUs: 0, postDecodeUs: 0 };
    const trace = plantedTrace('served', risingLoad(300, 10), { step: PLANTED, request });
    const steps = [{ name: 'steps', samples: plantedSteps(PLANTED, 3000) }];
    const stages: string[] = [];
    const { profile, report } = fitProfile({ steps, traces: [trace] }, OPTIONS, (stage) => stages.push(stage));
    expect(Math.abs(profile.request.queueingUs / 6000 - 1)).toBeLessThan(0.1);
    expect(Math.abs(profile.step.decodeContextUs / PLANTED.decodeContextUs - 1)).toBeLessThan(0.05);
    expect(report.steps!.heldOut).toBeNull();
    expect(report.data.map(({ kind }) => kind)).toEqual(['steps', 'requests']);
    expect(new Set(stages)).toEqual(new Set(['steps', 'requests']));
  });

  it('need no trace: steps alone will do', () => {
    const steps = [{ name: 'run', samples: plantedSteps(PLANTED, 1500, { bare: 0 }) }];
    const { profile, report } = fitProfile({ steps }, { ...OPTIONS, scheduler: { blockSize: 16 } });
    expect(report.steps!.heldOut!.steps).toBe(300);
    expect(Math.abs(report.steps!.heldOut!.total)).toBeLessThan(0.02);
    expect(profile.request).toEqual({ queueingUs: 0, outputTokenUs: 0, postDecodeUs: 0 });
    expect(profile.scheduler).toEqual({ blockSize: 16 });
    expect(report.notes[0]).toMatch(/^Steps of more than 25\d decoding requests/);
  });
});

describe('steps of a GPU that slows down', () => {
  it("report it, and the host's share", () => {
    const host = { stepUs: 150, promptUs: 50, promptTokenUs: 0.2 };
    const planted = { ...PLANTED, host, slowdown: { share: 0.1, tokenUs: 24, overUs: 50_000 } };
    const steps = [{ name: 'run', samples: plantedSteps(planted, 3000, { bare: 0, timed: true }) }];
    const { profile, report } = fitProfile({ steps }, OPTIONS);
    expect(Math.abs(profile.step.host!.stepUs / 150 - 1)).toBeLessThan(0.2);
    expect(Math.abs(profile.step.requestUs / PLANTED.requestUs - 1)).toBeLessThan(0.1);
    expect(report.notes.join(' ')).toMatch(
      / A GPU that has computed all it can for a while takes (9|10)\.\d % longer\./,
    );
    expect(report.steps!.heldOut!.medianAbs).toBeLessThan(0.01);
  });

  it('report that they are not sufficient', () => {
    const planted = { ...PLANTED, slowdown: { share: 0.1, tokenUs: 24, overUs: 50_000 } };
    const steps = [{ name: 'run', samples: plantedSteps(planted, 200, { bare: 0 }) }];
    const { profile, report } = fitProfile({ steps }, OPTIONS);
    expect(profile.step).not.toHaveProperty('slowdown');
    expect(report.notes).toContain('These steps do not show whether the GPU slows down under load: not simulated.');
  });
});

describe('a profile of a similar engine', () => {
  it('is a start for requests as well', () => {
    const known = { ...fitProfile({ steps: [{ name: 's', samples: plantedSteps(PLANTED, 1500) }] }, OPTIONS).profile };
    const request = { queueingUs: 3000, outputTokenUs: 0, postDecodeUs: 0 };
    const slower = { ...PLANTED, decodeOnly: PLANTED.decodeOnly.map(({ tokens, us }) => ({ tokens, us: us * 1.3 })) };
    const trace = plantedTrace('slower', risingLoad(400, 12), { step: slower, request });
    const { report } = fitProfile({ traces: [trace] }, { ...OPTIONS, start: { profile: known } });
    expect(report.parameters.map(({ name }) => name)[0]).toBe('fixed_factor');
    expect(Math.abs(report.requests![0]!.heldOut!.e2e)).toBeLessThan(0.05);
  });

  it('keeps the costs of the host and of load: planted coefficients come back within 2 %', () => {
    const host = { stepUs: 150, promptUs: 50, promptTokenUs: 0.2 };
    const slowdown = { share: 0.2, tokenUs: 24, overUs: 50_000 };
    const known = { ...PLANTED, host, slowdown };
    const planted = [1.12, 0.9, 1.06, 8, 3000];
    const costs = scaledFamily(known, { queueingUs: 2000, outputTokenUs: 0, postDecodeUs: 0 }, 0.3).costsOf(planted);
    // At full load a token takes as long as one does.
    expect(costs.step.slowdown).toEqual({ ...slowdown, tokenUs: 0.9 * 24 });
    const trace = plantedTrace('ladder', ladder(31), costs);
    const profile = { ...fakeProfile(), step: known };
    const { profile: found, report } = fitProfile({ traces: [trace] }, { ...OPTIONS, start: { profile }, doubt: 10 });
    for (const [i, { name, value, low }] of report.parameters.entries()) {
      if (low !== null) expect(Math.abs(value / planted[i]! - 1), name).toBeLessThan(0.02);
    }
    const told = report.parameters.filter(({ low }) => low !== null).map(({ name }) => name);
    expect(told).toEqual(expect.arrayContaining(['fixed_factor', 'tokens_factor', 'context_factor', 'queueing_us']));
    expect([found.step.host, found.step.slowdown!.share]).toEqual([host, 0.2]);
  });
});

describe('what cannot be fitted', () => {
  const short = plantedTrace('short', risingLoad(60, 10), TRUE);

  it.each([
    ['FIT_NOTHING', () => fitProfile({}, OPTIONS)],
    ['FIT_TOO_FEW_STEPS', () => fitProfile({ steps: [{ name: 's', samples: plantedSteps(PLANTED, 59) }] }, OPTIONS)],
    ['FIT_TOO_FEW_REQUESTS', () => fitProfile({ traces: [{ ...short, warmUp: 30 }] }, OPTIONS)],
    ['FIT_NO_START', () => fitProfile({ traces: [short] }, { ...OPTIONS, start: undefined as never })],
  ] as const)('is reported plainly: %s', (code, fit) => {
    expect(fit).toThrow(expect.objectContaining({ name: 'InputError', code }));
  });

  it('reports which trace is too short and how many requests count', () => {
    expect(() => fitProfile({ traces: [{ ...short, ttftUs: short.ttftUs.fill(Number.NaN) }] }, OPTIONS)).toThrow(
      'short: 0 requests have both latencies; give a trace with at least 40',
    );
  });
});
