import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Saturation } from '../../simulator/result-document.js';
import { captured as twinyard } from '../test-io.fixture.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-saturation-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Lengths = readonly [mean: number, deviation: number];
const lengths = ([mean, deviation]: Lengths) =>
  `{ type: gaussian, params: { mean: ${mean}, std_dev: ${deviation}, min: 2, max: 8000 } }`;

/** Fleets with the rate that they complete under a lasting overload: the middle of 12,000 requests at 1.6 times that rate. */
const FLEETS = {
  usual: { flags: '--num-instances 4', prompt: [512, 256], output: [512, 256], keeps: 44.2 },
  brief: { flags: '--num-instances 8', prompt: [256, 64], output: [32, 16], keeps: 584 },
  prompts: { flags: '--num-instances 2', prompt: [4000, 256], output: [4, 1], keeps: 11 },
  'small batch': {
    flags: '--num-instances 2 --max-num-running-reqs 16',
    prompt: [512, 256],
    output: [512, 256],
    keeps: 4.91,
  },
} as const;
type Fleet = keyof typeof FLEETS;

async function judged(
  fleet: Fleet,
  load: number,
  requests: number,
  arrivals: string,
  seed = 1,
): Promise<{ saturation: Saturation; stderr: string }> {
  const { flags, prompt, output, keeps } = FLEETS[fleet];
  const spec = join(folder, 'spec.yaml');
  writeFileSync(
    spec,
    `version: "2"
aggregate_rate: ${load * keeps}
num_requests: ${requests}
clients:
  - { id: a, arrival: { process: ${arrivals} }, input_distribution: ${lengths(prompt)}, output_distribution: ${lengths(output)} }
`,
  );
  const command = `run --model qwen/qwen3-14b ${flags} --workload-spec ${spec} --seed ${seed} --timeout -1`;
  const { code, stdout, stderr } = await twinyard(command);
  expect(code).toBe(0);
  return { saturation: JSON.parse(stdout).saturation, stderr };
}

describe('saturation', () => {
  it.each<[Fleet, number, number, string, Saturation['state'][]]>([
    // Below what the fleet keeps: never saturated; with enough requests it keeps up.
    ['usual', 0.3, 600, 'poisson', ['keeps-up']],
    ['usual', 0.6, 2000, 'poisson', ['keeps-up']],
    ['usual', 0.8, 2000, 'constant', ['keeps-up']],
    ['usual', 0.9, 4000, 'poisson', ['keeps-up']],
    ['usual', 0.8, 2000, 'gamma, cv: 2', ['keeps-up']],
    ['usual', 0.9, 100, 'poisson', ['too-short']],
    ['usual', 0.6, 100, 'constant', ['too-short']],
    ['brief', 0.3, 300, 'poisson', ['keeps-up']],
    ['brief', 0.8, 2000, 'poisson', ['keeps-up']],
    ['brief', 0.85, 6000, 'gamma, cv: 2', ['keeps-up']],
    ['brief', 0.9, 300, 'poisson', ['keeps-up', 'too-short']],
    ['prompts', 0.3, 100, 'poisson', ['keeps-up']],
    ['prompts', 0.8, 300, 'poisson', ['keeps-up']],
    ['prompts', 0.85, 600, 'gamma, cv: 2', ['keeps-up']],
    ['prompts', 0.9, 600, 'constant', ['keeps-up']],
    ['prompts', 0.9, 2000, 'poisson', ['keeps-up']],
    ['small batch', 0.3, 100, 'gamma, cv: 2', ['keeps-up']],
    ['small batch', 0.8, 300, 'poisson', ['keeps-up']],
    ['small batch', 0.85, 600, 'gamma, cv: 2', ['keeps-up', 'too-short']],
    ['small batch', 0.9, 2000, 'poisson', ['keeps-up']],
    // Above: saturated, or too short to tell, and never said to keep up.
    ['usual', 1.3, 100, 'poisson', ['too-short']],
    ['usual', 1.3, 600, 'poisson', ['too-short']],
    ['usual', 1.3, 6000, 'poisson', ['saturated']],
    ['usual', 2, 2000, 'constant', ['saturated']],
    ['usual', 5, 100, 'poisson', ['saturated']],
    ['usual', 5, 600, 'constant', ['saturated']],
    ['brief', 1.3, 300, 'poisson', ['too-short']],
    ['brief', 1.3, 6000, 'constant', ['saturated']],
    ['brief', 2, 2000, 'gamma, cv: 2', ['saturated']],
    ['prompts', 1.1, 2000, 'poisson', ['saturated']],
    ['prompts', 1.3, 300, 'constant', ['saturated']],
    ['prompts', 2, 100, 'poisson', ['saturated']],
    ['prompts', 5, 100, 'constant', ['saturated']],
    ['small batch', 1.1, 2000, 'poisson', ['saturated']],
    ['small batch', 1.3, 600, 'gamma, cv: 2', ['saturated']],
    ['small batch', 2, 100, 'poisson', ['saturated']],
    ['small batch', 5, 300, 'constant', ['saturated']],
  ])('%s at %f times what it keeps, %i requests, %s: %j', async (fleet, load, requests, arrivals, states) => {
    const { saturation, stderr } = await judged(fleet, load, requests, arrivals);
    expect(states, JSON.stringify(saturation)).toContain(saturation.state);
    expect(stderr).toBe(saturation.state === 'saturated' ? `twinyard: warning: ${saturation.verdict}\n` : '');
    if (saturation.kept_rps !== null) {
      expect(Math.abs(saturation.kept_rps / FLEETS[fleet].keeps - 1), `keeps ${saturation.kept_rps}`).toBeLessThan(0.2);
    }
  });

  const RUN = 'run --model qwen/qwen3-14b --num-instances 4';
  it('does not hide a hopeless rate behind a short run', async () => {
    const { stdout, stderr } = await twinyard(`${RUN} --rate 200 --num-requests 600 --format table`);
    expect(stdout).toMatch(/^Load +saturated: 200 requests\/s arrive and the fleet keeps at most 97\.5/m);
    expect(stderr).toMatch(/^twinyard: warning: saturated: 200 requests\/s arrive/);
    const long = JSON.parse((await twinyard(`${RUN} --rate 200 --num-requests 12000`)).stdout);
    expect(long.saturation.state).toBe('saturated');
    expect(long.saturation.kept_rps).toBeCloseTo(44, 0);
    expect(long.latency.expected_error).toContain('near saturation');
  });

  it.each([
    ['a closed loop', `${RUN} --concurrency 2000 --num-requests 4000`],
    ['a closed loop of few', `${RUN} --concurrency 8 --num-requests 200`],
    ['one batch', `${RUN} --rate 1000000 --num-requests 500`],
    ['few requests', `${RUN} --rate 500 --num-requests 10`],
    ['sessions', `${RUN} --workload agentic-coder --num-requests 300`],
    ['a client with a cap', 'replay --model qwen/qwen3-14b --trace examples/small-trace --max-in-flight 1'],
  ])('does not warn of %s', async (_, command) => {
    const { code, stdout, stderr } = await twinyard(command);
    expect([code, stderr]).toEqual([0, '']);
    expect(['no-rate', 'keeps-up', 'too-short']).toContain(JSON.parse(stdout).saturation.state);
  });

  it('does not warn of a burst that drains', async () => {
    const spec = join(folder, 'burst.yaml');
    const one =
      'input_distribution: { type: constant, params: { value: 400 } }, output_distribution: { type: constant, params: { value: 64 } }';
    writeFileSync(
      spec,
      `version: "2"
aggregate_rate: 40
num_requests: 2000
clients:
  - { id: steady, rate_fraction: 0.5, arrival: { process: poisson }, ${one} }
  - { id: burst, rate_fraction: 0.5, arrival: { process: poisson }, lifecycle: { windows: [{ start_us: 10000000, end_us: 13000000 }] }, ${one} }
`,
    );
    const { stdout, stderr } = await twinyard(`run --model qwen/qwen3-14b --workload-spec ${spec}`);
    expect([stderr, JSON.parse(stdout).saturation.state]).toEqual(['', 'keeps-up']);
  });

  it('says how many timed out', async () => {
    const { stdout } = await twinyard(`${RUN} --rate 10 --num-requests 300 --timeout 4`);
    expect(JSON.parse(stdout).saturation.verdict).toMatch(/; \d+ timed out$/);
  });
});

describe('detectors', () => {
  const FLEET = 'run --model qwen/qwen3-14b --num-instances 2 --num-requests 600';

  it('adds what the chosen detectors say to the verdict, and warns where one calls the fleet overloaded', async () => {
    const calm = await twinyard(`${FLEET} --rate 2 --detectors backlog-drift`);
    const { saturation, config } = JSON.parse(calm.stdout);
    expect(saturation.verdict).toMatch(/^the fleet keeps up with 2\.0 requests\/s; detectors: backlog-drift stable$/);
    expect(config.detectors).toEqual({
      ...{ names: ['backlog-drift'], windowS: 30, thresholdMs: 5000, bucketS: null, slopeFactor: 3 },
    });
    expect(calm.stderr).toBe('');
    const slow = await twinyard(`${FLEET} --rate 2 --detectors threshold --saturation-threshold-ms 100`);
    expect(JSON.parse(slow.stdout).saturation.detectors.threshold.level).toBe('overloaded');
    expect(slow.stderr).toMatch(
      /warning: the fleet keeps up .* threshold overloaded \(mean E2E .*the limit is 0\.1 s\)/,
    );
  });

  it('writes how the verdicts changed over time', async () => {
    const report = join(folder, 'detectors.json');
    const { code } = await twinyard(`${FLEET} --rate 60 --detectors all --saturation-report ${report}`);
    expect(code).toBe(0);
    const { final, trace } = JSON.parse(readFileSync(report, 'utf8'));
    expect(Object.keys(final.detectors)).toEqual(['composite', 'threshold', 'backlog-drift']);
    expect(final.detectors.composite.level).toBe('overloaded');
    expect(trace[0]).toMatchObject({ time_s: 0, detector: 'composite' });
  });

  it.each([
    ['--detectors nonsense', "--detectors: 'nonsense' is not known; known: composite, threshold, backlog-drift, all"],
    ['--saturation-window 5', '--saturation-window: given without detectors; add --detectors all'],
    ['--saturation-report x.json', '--saturation-report: given without detectors; add --detectors all'],
    ['--detectors all --saturation-slope 0', '--saturation-slope'],
  ])('refuses %s', async (flags, message) => {
    const { code, stderr } = await twinyard(`${FLEET} ${flags}`);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it.each([
    ['compare --num-instances 1,2', 'comparison'],
    ['sweep --axis rate=60,61', 'sweep'],
  ])('counts over the seeds of %s what each detector says', async (command) => {
    const flags = '--model qwen/qwen3-14b --rate 60 --num-requests 200 --seeds 2 --no-cache --workers 1';
    const rate = command.startsWith('sweep') ? flags.replace('--rate 60 ', '') : flags;
    const { code, stdout } = await twinyard(`${command} ${rate} --detectors threshold --saturation-threshold-ms 10`);
    expect(code).toBe(0);
    const document = JSON.parse(stdout);
    const votes = (document.variants ?? document.points).map(
      (one: { saturation?: object }) => (one.saturation ?? one) as { detectors: unknown },
    );
    expect(votes.map(({ detectors }: { detectors: unknown }) => detectors)).toEqual([
      { threshold: { stable: 0, backlogged: 0, overloaded: 2 } },
      { threshold: { stable: 0, backlogged: 0, overloaded: 2 } },
    ]);
    expect(JSON.stringify(document.comparison?.notes ?? document.notes)).toContain('Detector threshold: overloaded: ');
  });
});
