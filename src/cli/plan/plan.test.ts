import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../experiment/plan/plan-document.js';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import { profileText } from '../../replica/latency/profile-file.js';
import { planCsv, planTable } from '../../report/plan/plan-table.js';
import { inTestFolder, silent } from '../test-folder.fixture.js';
import { captured } from '../test-io.fixture.js';

const NO_COSTS = {
  ...{ decodeContextUs: 0, mixedContextUs: 0, sharedContext: 1, unevenContextUs: 0, mixedUnevenContextUs: 0 },
  ...{ mixedDecodeUs: 0, prefillPairUs: 0, prefillLongestUs: 0, prefillRequestUs: 0, requestUs: 0 },
};
const flat = (us: number) => [
  { tokens: 1, us },
  { tokens: 10_000, us },
];

/**
 * A prompt takes a step of 50 ms, which gives the first of 12 tokens, and the others ten steps of 5 ms: a seat is taken
 * for 100 ms, so that a replica with one seat serves 10 requests a second.
 */
const ONE_AT_A_TIME = {
  ...fakeProfile({ ...NO_COSTS, decodeOnly: flat(5000), withPrefill: flat(50_000) }),
  name: 'one at a time',
  request: { queueingUs: 0, outputTokenUs: 0, postDecodeUs: 0 },
  scheduler: {
    totalKvBlocks: 1000,
    maxModelLen: 4096,
    maxNumSeqs: 1,
    maxNumBatchedTokens: 2048,
    engineRules: 'classic',
  },
};

/** 200 ms for the same: 5 requests a second. */
const SLOW = {
  ...ONE_AT_A_TIME,
  step: { ...ONE_AT_A_TIME.step, decodeOnly: flat(10_000), withPrefill: flat(100_000) },
};

inTestFolder(() => {
  writeFileSync('flat.json', profileText(ONE_AT_A_TIME));
  writeFileSync('uncertain.json', profileText({ ...ONE_AT_A_TIME, uncertainty: { step: 0.2 } }));
  writeFileSync('slow.json', profileText({ ...SLOW, name: 'half as fast', hardware: 'A100-80', tp: 2 }));
  writeFileSync('both.yaml', 'currency: EUR\nper_gpu_hour:\n  H100: 2.5\n  A100-80: 1\n');
  writeFileSync('prices.yaml', 'currency: EUR\nper_gpu_hour:\n  H100: 2.5\n');
});

const constant = (kind: string, tokens: number) =>
  `--${kind}-tokens ${tokens} --${kind}-tokens-stdev 0 --${kind}-tokens-min ${tokens} --${kind}-tokens-max ${tokens}`;
const LENGTHS = `${constant('prompt', 100)} ${constant('output', 12)} --arrival constant`;
const FLAT = `plan --latency-profile flat.json ${LENGTHS} --num-requests 400 --seeds 2 --no-cache`;
const planned = async (args: string): Promise<PlanDocument> => JSON.parse(await silent(args));

describe('plan, where arithmetic knows the answer', () => {
  it('finds the least fleet: 35 requests of 100 ms in a second need 4 replicas', async () => {
    const { candidates, verdict } = await planned(`${FLAT} --rate 35 --slo-ttft p99=500ms`);
    const { at, oneLess, oneMore, replicas } = candidates[0]!.plan!;
    expect(replicas).toBe(4);
    expect(at).toMatchObject({ kept: true, replicas: 4, rate: 35 });
    expect(at!.latencies[0]).toMatchObject({ of: 'ttft', at: 99, ms: 50, low: 50, high: 50 });
    expect(oneLess).toMatchObject({ replicas: 3, kept: false, why: 'backlog' });
    expect(oneMore).toMatchObject({ replicas: 5, kept: true });
    expect(verdict).toMatch(/^4 H100 \(4 replicas, tp 1\) keep TTFT p99 <= 500 ms at 35 req\/s: TTFT p99 50 ms ± 0/);
  });

  it('does not take a fleet whose backlog only just begins to grow', async () => {
    // 3 % too much: for a while every SLO is kept.
    const { candidates } = await planned(`${FLAT} --rate 41.2 --slo-ttft p99=5s`);
    expect(candidates[0]!.plan!.replicas).toBe(5);
  });

  it('finds the greatest load of a fleet: 4 replicas serve 40 requests in a second', async () => {
    const { candidates, verdict } = await planned(`${FLAT} --num-instances 4 --slo-ttft p99=500ms`);
    const { greatest } = candidates[0]!.plan!;
    expect(greatest).toBeGreaterThan(39);
    expect(greatest).toBeLessThanOrEqual(40);
    expect(verdict).toMatch(/^4 H100 \(4 replicas, tp 1\) keep TTFT p99 <= 500 ms up to (39|40)/);
  });

  it('says how much more load the least fleet keeps', async () => {
    const { candidates, verdict } = await planned(`${FLAT} --rate 32 --slo-ttft p99=500ms`);
    const { at, greatest } = candidates[0]!.plan!;
    expect(greatest! / at!.factor).toBeGreaterThan(1.2);
    expect(greatest! / at!.factor).toBeLessThanOrEqual(1.25);
    expect(verdict).toMatch(/head-room 2[0-5] %/);
  });

  it('gives the fleets and loads that the error of the model allows', async () => {
    const uncertain = FLAT.replace('flat.json', 'uncertain.json');
    const { candidates, verdict } = await planned(`${uncertain} --rate 35 --slo-ttft p99=500ms`);
    // 80 ms: 2.8 replicas; 120 ms: 4.2.
    expect(candidates[0]!.plan!.replicasRange).toEqual([3, 5]);
    expect(verdict).toContain('model within 20 %');
    expect(verdict).toContain("3 to 5 replicas within the model's error");
    const load = await planned(`${uncertain} --num-instances 4 --slo-ttft p99=500ms`);
    const [low, high] = load.candidates[0]!.plan!.greatestRange!;
    expect(low! / (4 / 0.12)).toBeCloseTo(1, 1);
    expect(high! / (4 / 0.08)).toBeCloseTo(1, 1);
  });

  it('prices the fleet by the file and by nothing else', async () => {
    const priced = await planned(`${FLAT} --rate 35 --slo-ttft p99=500ms --prices prices.yaml`);
    expect(priced.candidates[0]!.pricePerHour).toBe(10);
    expect(priced.verdict).toContain('for 10.00 EUR/h');
    const unpriced = await planned(`${FLAT} --rate 35 --slo-ttft p99=500ms`);
    expect(unpriced.candidates[0]!.pricePerHour).toBeNull();
  });

  it('says what an idle replica reaches when no fleet can keep an SLO', async () => {
    const { verdict, plan } = await planned(`${FLAT} --rate 35 --slo-ttft p99=40ms`);
    expect(plan.chosen).toBeNull();
    expect(verdict).toContain('No fleet keeps TTFT p99 <= 40 ms');
    expect(verdict).toContain('TTFT p99 is 50 ms: a prompt alone takes that long (100 tokens');
  });

  it('finds the greatest load of a fleet of several kinds, which depends on the policy', async () => {
    const unlike = FLAT.replace('--latency-profile flat.json', '--fleet 2*flat.json,1*slow.json');
    const document = await planned(
      `${unlike} --slo-e2e p99=1s --policy predicted-latency,round-robin --prices both.yaml`,
    );
    const { candidates, verdict } = document;
    const [byPrediction, inTurn] = candidates;
    // 10 + 10 + 5 in a second; in turn a third of all goes to the slow one.
    expect(byPrediction!.plan!.greatest! / 25).toBeGreaterThan(0.9);
    expect(byPrediction!.plan!.greatest! / 25).toBeLessThanOrEqual(1);
    expect(inTurn!.plan!.greatest! / 15).toBeCloseTo(1, 1);
    expect(byPrediction).toMatchObject({ gpus: 4, pricePerHour: 7, gpu: 'H100 + A100-80' });
    expect(byPrediction!.fleet).toEqual([
      { gpu: 'H100', tp: 1, profile: 'one at a time', replicas: 2, gpus: 2, pricePerHour: 5 },
      { gpu: 'A100-80', tp: 2, profile: 'half as fast', replicas: 1, gpus: 2, pricePerHour: 2 },
    ]);
    // One more and one less of the last kind.
    expect(byPrediction!.plan!.oneLess!.replicas).toBe(2);
    expect(byPrediction!.plan!.oneMore).toMatchObject({ replicas: 4, kept: true });
    expect(verdict).toMatch(
      /^2 H100 with profile one at a time \+ 2 A100-80 with tp 2 and profile half as fast \(3 replicas\) keep E2E p99 <= 1000 ms up to 2[345]/,
    );
    expect(planTable(document, { colour: false })).toContain('one half as fast less (2 replicas): ');
    expect(planCsv(document)).toContain('predicted-latency,one-less,2,2,5,');
  });

  it('says what an idle fleet of several kinds reaches when it cannot keep an SLO', async () => {
    const unlike = FLAT.replace('--latency-profile flat.json', '--fleet flat.json,slow.json');
    const { verdict } = await planned(`${unlike} --slo-ttft p99=90ms`);
    expect(verdict).toContain('(2 replicas) keep TTFT p99 <= 90 ms at no load: on the idle fleet TTFT p99 is 100 ms');
  });

  it('prints the same bytes again', async () => {
    const args = `${FLAT} --rate 35 --slo-ttft p99=500ms --arrival poisson`.replace('--arrival constant ', '');
    expect(await silent(args)).toBe(await silent(args));
  });
});

describe('plan from a recording', () => {
  /** 64 requests at a time, each for 100 steps of 10 ms: 64 requests a second. */
  const SEATS = {
    ...ONE_AT_A_TIME,
    name: '64 at a time',
    step: { ...ONE_AT_A_TIME.step, decodeOnly: flat(10_000), withPrefill: flat(10_000) },
    scheduler: { ...ONE_AT_A_TIME.scheduler, maxNumSeqs: 64, totalKvBlocks: 10_000 },
  };
  const lengths = `${constant('prompt', 16)} ${constant('output', 101)}`;

  it('finds the 5 replicas that three times the traffic needs, where replaying a short recording says 4', async () => {
    writeFileSync('seats.json', profileText(SEATS));
    await silent(
      `run --latency-profile seats.json --num-instances 8 --rate 96 --num-requests 900 ${lengths} --trace-output short`,
    );
    await silent('trace scale --rate 3x short -o fast.csv');
    const replayed = async (replicas: number) => {
      const { stdout } = await captured(`replay --trace fast --latency-profile seats.json --num-instances ${replicas}`);
      return JSON.parse(stdout).cluster.ttft_p99_ms;
    };
    expect(await replayed(3)).toBeGreaterThan(500);
    expect(await replayed(4)).toBeLessThan(500);
    // 288 requests a second need 4.5 replicas.
    const args = '--trace short --rate 3x --latency-profile seats.json --slo-ttft p99=500ms --seeds 1 --no-cache';
    const { candidates, plan, verdict } = await planned(`plan ${args}`);
    expect(candidates[0]!.plan!.replicas).toBe(5);
    expect(verdict).toMatch(/^5 H100 .* at 288 req\/s: .*; 4 replicas do not: the backlog grows until the end/);
    expect(plan.notes.join()).toMatch(
      /the recording is too short for a steady state: it was lengthened to [\d,]+ requests/,
    );
  });

  it('replays a recording that is long enough', async () => {
    await silent(
      `run --latency-profile flat.json --num-instances 8 --rate 25 --num-requests 600 ${LENGTHS.replace('--arrival constant', '')} --trace-output long`,
    );
    const args = '--trace long --latency-profile flat.json --slo-ttft p99=500ms --num-requests 500 --no-cache';
    const { candidates, plan } = await planned(`plan ${args}`);
    expect(candidates[0]!.plan).toMatchObject({ replicas: 3, at: { seeds: 1, requests: 600 } });
    expect(plan.notes.join()).not.toContain('lengthened');
  });

  it('says how many requests no fleet serves because they are too long', async () => {
    const long = '--prompt-tokens 3000 --prompt-tokens-stdev 1500 --prompt-tokens-min 10 --prompt-tokens-max 8000';
    const args = `${long} ${constant('output', 12)} --latency-profile flat.json --rate 5 --num-requests 400 --seeds 1 --no-cache`;
    const { verdict, candidates } = await planned(`plan ${args} --slo-ttft p99=2s`);
    expect(candidates[0]!.plan!.at!.unservable).toBeGreaterThan(0.1);
    expect(verdict).toMatch(
      /\d+ % of the requests are longer than 4096 tokens, the longest that a replica holds: no fleet serves them/,
    );
  });
});

describe('kind: Plan', () => {
  const FILE = `kind: Plan
base:
  latency-profile: flat.json
  prompt-tokens: 100
  prompt-tokens-stdev: 0
  prompt-tokens-min: 100
  prompt-tokens-max: 100
  output-tokens: 12
  output-tokens-stdev: 0
  output-tokens-min: 12
  output-tokens-max: 12
slo-ttft: p99=500ms
rate: 35
arrival: constant
seeds: 2
num-requests: 400
`;

  it('plans as the flags do, and flags win', async () => {
    writeFileSync('plan.yaml', FILE);
    const byFlags = await planned(`${FLAT} --rate 35 --slo-ttft p99=500ms`);
    const byFile = await planned('plan plan.yaml --no-cache');
    expect(byFile.candidates).toEqual(byFlags.candidates);
    expect((await planned('plan plan.yaml --rate 15 --no-cache')).candidates[0]!.plan!.replicas).toBe(2);
  });

  it.each([
    ['slo-ttft: p99=500', 'plan.yaml:2:11 (slo-ttft): ', 'has no unit'],
    ['slots: 3', 'plan.yaml:2:1 (slots): ', 'unknown key'],
    ['base: { rate: 3 }\nslo-ttft: p99=1s', 'plan.yaml:2:15 (base.rate): ', 'write it beside base'],
  ])('names line and column: %s', async (text, place, problem) => {
    writeFileSync('plan.yaml', `kind: Plan\n${text}\n`);
    const { code, stderr } = await captured('plan plan.yaml --no-cache');
    expect(code).toBe(2);
    expect(stderr).toContain(place);
    expect(stderr).toContain(problem);
  });
});

describe('bad input of plan', () => {
  const refused = async (args: string) => {
    const { code, stderr } = await captured(args);
    expect(code).toBe(2);
    return stderr;
  };

  it.each([
    ['--rate 35', '--slo-ttft: or another SLO is required'],
    ['--slo-ttft p99=500ms', '--rate: is required'],
    ['--rate 0 --slo-ttft p99=500ms', '--rate: '],
    ['--rate 3x --slo-ttft p99=500ms', "'3x' is times a recorded rate, and there is no trace"],
    ['--rate 20,30 --slo-ttft p99=500ms', '2 rates for the least fleet'],
    ['--rate 20 --slo-ttft 500', 'has no unit'],
    ['--rate 20 --slo-ttft median=500ms', "has no statistic 'median'"],
    ['--rate 20 --slo-itl p99.9=50ms', 'any percentile with --slo-tpot'],
    ['--rate 20 --slo-ttft p99=500ms,p99=1s', 'has p99 twice'],
    ['--rate 20 --slo-ttft p99=500ms --seeds 2 --seed 1', '--seeds: given together with --seed'],
    ['--rate 20 --slo-ttft p99=500ms --gpu H1000', '--gpu: '],
    ['--rate 20 --slo-ttft p99=500ms --fleet 2*H1000', "--fleet: 'H1000'"],
    ['--rate 20 --slo-ttft p99=500ms --fleet 0*H100', '--fleet: '],
    ['--slo-ttft p99=500ms --fleet H100 --num-instances 2', '--num-instances: is given with --fleet'],
    ['--slo-ttft p99=500ms --fleet H100 --gpu H100', '--gpu: is given with --fleet'],
    ['--slo-ttft p99=500ms --fleet H100 --tp 2', '--tp: is given with --fleet'],
    ['--slo-ttft p99=500ms --fleet missing.json', 'missing.json'],
  ])('%s', async (args, message) => {
    expect(await refused(`plan --model qwen/qwen3-14b --no-cache ${args}`)).toContain(message);
  });

  it('names the GPU without a price', async () => {
    const stderr = await refused(
      'plan --model qwen/qwen3-14b --rate 20 --slo-ttft p99=500ms --gpu H100,H200 --tp 1 --prices prices.yaml --no-cache',
    );
    expect(stderr).toContain("prices.yaml: no price for H200; add 'H200: <price of an hour>' under per_gpu_hour");
  });

  it('shows the arithmetic of a model that does not fit', async () => {
    const stderr = await refused(
      'plan --model meta-llama/llama-3.1-70b-instruct --rate 1 --slo-ttft p99=5s --gpu H100 --tp 1 --no-cache',
    );
    expect(stderr).toMatch(/needs [\d.]+ GiB before any KV cache, [\d.]+ GiB are usable/);
  });

  it('refuses a trace of one request, and an empty one', async () => {
    writeFileSync('one.jsonl', '{"timestamp": 0, "input_length": 100, "output_length": 10, "hash_ids": [1]}\n');
    const args = '--model qwen/qwen3-14b --slo-ttft p99=500ms --no-cache';
    expect(await refused(`plan --trace one.jsonl ${args}`)).toContain('one request has no rate');
    writeFileSync('none.jsonl', '');
    expect(await refused(`plan --trace none.jsonl ${args}`)).toContain('none.jsonl');
  });
});
