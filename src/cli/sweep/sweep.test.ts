import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SweepDocument } from '../../experiment/sweep/sweep-document.js';
import { captured as twinyard } from '../test-io.fixture.js';

let folder: string;
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-sweep-test-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const SMALL = ['--model', 'qwen/qwen3-14b', '--num-requests', '20', '--seeds', '2'];
/** A load that shows differences, with one seed. */
const LOADED = ['--model', 'qwen/qwen3-14b', '--num-requests', '200', '--seeds', '1'];

async function documentOf(args: readonly string[]): Promise<SweepDocument> {
  const { code, stdout, stderr } = await twinyard(['sweep', ...args]);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

const swept = (...args: string[]) => documentOf([...SMALL, ...args]);
const sweptLoaded = (...args: string[]) => documentOf([...LOADED, ...args]);

async function refused(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await twinyard(['sweep', ...SMALL, ...args]);
  expect([code, stdout]).toEqual([2, '']);
  return stderr;
}

describe('sweep', () => {
  it('measures every point with every seed, as run does', async () => {
    const { points, runs, seeds } = await swept('--axis', 'num-instances=1,2', '--axis', 'rate=20,40');
    expect([runs, seeds]).toEqual([8, [42, 43]]);
    expect(points.map(({ name }) => name)).toEqual([
      'num-instances=1, rate=20',
      'num-instances=1, rate=40',
      'num-instances=2, rate=20',
      'num-instances=2, rate=40',
    ]);
    expect(points.map(({ gpus }) => gpus)).toEqual([1, 1, 2, 2]);
    const run = async (seed: number) => {
      const line = `run --model qwen/qwen3-14b --num-requests 20 --num-instances 2 --rate 40 --seed ${seed}`;
      return JSON.parse((await twinyard(line)).stdout).cluster.ttft_p99_ms as number;
    };
    expect(points[3]!.metrics.ttft_p99_ms!.mean).toBe(((await run(42)) + (await run(43))) / 2);
  });

  it('prints the same bytes again, from the cache and without it', async () => {
    const axes = ['--axis', 'routing-policy=round-robin,lmetric', '--axis', 'rate=20,30', '--num-instances', '2'];
    const cached = ['--cache', join(folder, 'cache')];
    const first = await twinyard(['sweep', ...SMALL, ...axes, ...cached]);
    const again = await twinyard(['sweep', ...SMALL, ...axes, ...cached, '--log', 'info']);
    const without = await twinyard(['sweep', ...SMALL, ...axes, '--no-cache', '--workers', '1']);
    expect(again.stdout).toBe(first.stdout);
    expect(without.stdout).toBe(first.stdout);
    expect(again.stderr).toContain('8 runs, 0 of them simulated now');
  });

  it('starts with a verdict: the load that each series keeps', async () => {
    const base = ['--axis', 'num-instances=1,2', '--axis', 'rate=1,1000'];
    const { best, points, verdict } = await sweptLoaded(...base, '--constraint', 'ttft_p99<=100ms');
    expect(verdict).toMatch(
      /^num-instances=[12] keeps ttft_p99<=100ms up to 1 requests\/s; num-instances=[12] up to 1\. \d of 4 points (?:is|are) saturated/,
    );
    expect(points[best!]!.name).toBe('num-instances=1, rate=1');
    const none = await sweptLoaded(...base, '--constraint', 'ttft_p99<=1ms');
    expect(none.best).toBeNull();
    expect(none.verdict).toMatch(
      /^No point keeps ttft_p99<=1ms, not even at 1 requests\/s: the nearest is num-instances=\d, rate=1 with TTFT p99 /,
    );
  });

  it('chooses the fewest GPUs that keep the constraints', async () => {
    const line = [
      '--axis',
      'num-instances=1,2,4',
      '--rate',
      '20',
      '--output-tokens',
      '16',
      '--output-tokens-stdev',
      '0',
    ];
    const { points } = await sweptLoaded(...line);
    const limit = points[1]!.metrics.ttft_p99_ms!.mean + 0.001;
    const found = await sweptLoaded(...line, '--constraint', `ttft_p99<=${limit}`);
    expect(found.points[found.best!]!.name).toBe('num-instances=2');
    expect(found.verdict).toMatch(/^num-instances=2 is best: 2 GPUs, TTFT p99 .* 2 of 3 points keep ttft_p99<=/);
    expect(found.points.map(({ feasible }) => feasible)).toEqual([false, true, true]);
  });

  it('says which points are saturated, and takes none of them for one that keeps a bound', async () => {
    const line = ['--axis', 'rate=10,300', '--num-instances', '2', '--constraint', 'ttft_p99<=60s'];
    const { best, points, verdict } = await sweptLoaded(...line);
    expect(points.map(({ feasible, saturated_runs }) => [feasible, saturated_runs])).toEqual([
      [true, 0],
      [false, 1],
    ]);
    expect(points[1]!.constraints).toEqual({ 'ttft_p99<=60s': 1 });
    expect(best).toBe(0);
    expect(verdict).toContain('1 of 2 points is saturated: the backlog grew until the end.');
  });

  it('simulates nothing that a constraint over settings or GPUs excludes', async () => {
    const axes = ['--axis', 'num-instances=1,2,4', '--axis', 'tp=1,2'];
    const limits = ['--constraint', 'num-instances*tp<=4', '--constraint', 'gpus>1'];
    const { excluded_points, points } = await swept(...axes, ...limits);
    expect(points.map(({ gpus }) => gpus)).toEqual([2, 2, 4, 4]);
    expect(excluded_points).toBe(2);
  });

  it('reports points that cannot be simulated, and simulates the others', async () => {
    const { points, refused_points, verdict } = await swept('--axis', 'tp=1,2,3');
    expect(points.map(({ name }) => name)).toEqual(['tp=1', 'tp=2']);
    expect(refused_points).toEqual([{ settings: { tp: '3' }, reason: expect.stringContaining('3 does not divide') }]);
    expect(verdict).toContain('1 point cannot be simulated: --axis tp: 3 does not divide');
  });

  it('draws points from ranges, the same each time', async () => {
    const line = ['--axis', 'rate=10..50', '--axis', 'max-num-seqs=8..64:log', '--sample', 'latin-hypercube:4'];
    const { points, sample } = await swept(...line);
    expect(points).toHaveLength(4);
    expect(sample).toBe('latin-hypercube:4, seed 42');
    expect((await swept(...line)).points).toEqual(points);
    expect((await swept(...line, '--sample-seed', '1')).points).not.toEqual(points);
  });

  it('varies keys of a file', async () => {
    const policies = ['--policy-config', 'examples/policy-bundle.yaml', '--num-instances', '2'];
    const weight = 'policy-config:routing.scorers.1.weight';
    const { points } = await swept(...policies, '--axis', `${weight}=1,5`, '--rate', '100');
    expect(points.map(({ settings }) => settings)).toEqual([{ [weight]: '1' }, { [weight]: '5' }]);
    expect(await refused(...policies, '--axis', 'policy-config:routing.scorers.7.weight=1')).toContain(
      'examples/policy-bundle.yaml has no such key',
    );
    expect(await refused('--axis', `${weight}=1`)).toContain('is a key of a file, and --policy-config names none');
    expect(await refused(...policies, '--axis', 'policy-config:routing.polcy=a')).toContain(
      'examples/policy-bundle.yaml:',
    );
  });

  it.each<[string, string[]]>([
    ['sweep: no axis is given', []],
    ['--axis rate: has no values', ['--axis', 'rate=']],
    ["--axis: 'rate' has no '=' after a name", ['--axis', 'rate']],
    ["did you mean 'num-instances'?", ['--axis', 'num-instance=1,2']],
    ['--axis seed: is no axis', ['--axis', 'seed=1,2']],
    ["'wieghted' is not known", ['--axis', 'routing-policy=weighted,wieghted']],
    ['--axis num-instances', ['--axis', 'num-instances=0,1']],
    ['is an axis and also set by --rate', ['--axis', 'rate=1,2', '--rate', '3']],
    ['is an axis twice', ['--axis', 'rate=1,2', '--axis', 'rate=3']],
    [
      "'ttft_p99>=2s' contradicts 'ttft_p99<=1s'",
      ['--axis', 'rate=1,2', '--constraint', 'ttft_p99<=1s', '--constraint', 'ttft_p99>=2s'],
    ],
    ["'rate>=5' is met by 0 of 2", ['--axis', 'rate=1,2', '--constraint', 'rate>=5']],
    ['whether less or more', ['--axis', 'rate=1,2', '--objective', 'max-num-seqs']],
    ['--axis tp: 1000 does not divide', ['--axis', 'tp=1000,1001']],
  ])('refuses: %s', async (problem, args) => {
    expect(await refused(...args)).toContain(problem);
  });

  it('prints a table, CSV and a page, the verdict first', async () => {
    const line = ['--axis', 'num-instances=1,2', '--axis', 'rate=20,40', '--constraint', 'ttft_p99<=1s'];
    const shown = async (format: string) => (await twinyard(['sweep', ...SMALL, ...line, '--format', format])).stdout;
    expect(await shown('table')).toMatch(/^num-instances=1 keeps ttft_p99<=1s up to at least 40 requests\/s/);
    const [head, ...rows] = (await shown('csv')).trimEnd().split('\n');
    expect(head).toMatch(
      /^num-instances,rate,gpus,feasible,saturated_runs,too_short_runs,pareto,best,.*ttft_p99_ms,ttft_p99_ms_low,ttft_p99_ms_high/,
    );
    expect(rows.map((row) => row.split(',').slice(0, 4).join())).toEqual([
      '1,20,1,true',
      '1,40,1,true',
      '2,20,2,true',
      '2,40,2,true',
    ]);
    const page = await shown('html');
    expect(page.indexOf('<h1>num-instances=1 keeps')).toBeLessThan(page.indexOf('<svg'));
    // The first picture is the load curve with the bound drawn in.
    expect(page).toMatch(/<h1>[\s\S]*?class="picture"><svg(?:(?!<\/svg>)[\s\S])*class="limit"/);
    expect(page).toContain('TTFT p99 against rate');
    expect(page).toContain('Pareto front');
    expect(page).not.toMatch(/(?:src|href)="?http/);
    const path = join(folder, 'page.html');
    await twinyard(['sweep', ...SMALL, ...line, '--report', path]);
    expect(readFileSync(path, 'utf8')).toBe(page);
  });

  it('names the command that computes the same, without how it was computed', async () => {
    const { command } = await swept(
      '--axis',
      'rate=1,2',
      '--constraint',
      'ttft_p99 <= 5s',
      '--workers=1',
      '--no-cache',
    );
    expect(command).toBe(`twinyard sweep ${SMALL.join(' ')} --axis rate=1,2 --constraint 'ttft_p99 <= 5s'`);
  });
});

const FILE = `kind: Sweep
base:
  model: qwen/qwen3-14b
  num-requests: 20
axes:
  num-instances: [1, 2]
  rate: 20..40:20
seeds: [7]
constraints:
  - ttft_p99 <= 1s
pareto: [ttft_p99, gpus]
`;

describe('a sweep from a file', () => {
  it('is the same as from flags, and flags win', async () => {
    const path = file('sweep.yaml', FILE);
    const read = JSON.parse((await twinyard(['sweep', path])).stdout) as SweepDocument;
    const flags = [
      '--axis',
      'num-instances=1,2',
      '--axis',
      'rate=20..40:20',
      '--constraint',
      'ttft_p99 <= 1s',
      '--seed',
      '7',
    ];
    const line = ['sweep', '--model', 'qwen/qwen3-14b', '--num-requests', '20', ...flags, '--pareto', 'ttft_p99,gpus'];
    const written = JSON.parse((await twinyard(line)).stdout) as SweepDocument;
    expect({ ...read, command: '' }).toEqual({ ...written, command: '' });
    const other = JSON.parse(
      (await twinyard(['sweep', path, '--axis', 'rate=5', '--seeds', '2'])).stdout,
    ) as SweepDocument;
    expect(other.points.map(({ name }) => name)).toEqual(['num-instances=1, rate=5', 'num-instances=2, rate=5']);
    expect(other.seeds).toEqual([42, 43]);
  });

  it.each<[string, string, string]>([
    ['an unknown key', FILE.replace('seeds:', 'sedes:'), ':8:1 (sedes)'],
    ['an unknown setting', FILE.replace('model:', 'modell:'), ':3:3 (base.modell)'],
    ['a setting of another type', FILE.replace('num-requests: 20', 'num-requests: many'), ':4:17 (base.num-requests)'],
    ['an axis without values', FILE.replace('[1, 2]', '[]'), ':6:3 (axes.num-instances)'],
    ['an axis that is no setting', FILE.replace('rate: 20', 'rte: 20'), ':7:8 (axes.rte)'],
    ['a bad range', FILE.replace('20..40:20', '40..20:20'), ':7:9 (axes.rate)'],
    ['a bad constraint', FILE.replace('ttft_p99 <= 1s', 'ttft_p9 <= 1s'), ':10:5 (constraints[0])'],
    ['another kind', FILE.replace('Sweep', 'Swep'), ':1:7 (kind)'],
  ])('names line and column of %s', async (_, text, place) => {
    const path = file('broken.yaml', text);
    const { code, stderr } = await twinyard(['sweep', path]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${path}${place}`)]);
  });
});
