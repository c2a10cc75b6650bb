import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ComparisonDocument } from '../../experiment/comparison/comparison.js';
import { examplesIn, captured as twinyard } from '../test-io.fixture.js';

let folder: string;
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-compare-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function compared(args: string): Promise<ComparisonDocument> {
  const { code, stdout, stderr } = await twinyard(`compare ${args}`);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

const SMALL = '--model qwen/qwen3-14b --num-instances 2 --num-requests 20 --rate 50 --seeds 2';
const TRACE = '--model qwen/qwen3-14b --num-instances 2 --trace examples/small-trace';

describe('compare', () => {
  it('runs every policy with every seed, and compares the others with the first', async () => {
    const { comparison, variants, differences } = await compared(`${SMALL} --routing-policy round-robin,least-loaded`);
    expect(comparison).toMatchObject({ title: 'Routing policies', seeds: [42, 43], runs: 4, axis: null });
    expect(variants.map(({ name, against }) => [name, against])).toEqual([
      ['round-robin', null],
      ['least-loaded', 'round-robin'],
    ]);
    expect(new Set(differences.map(({ variant }) => variant))).toEqual(new Set(['least-loaded']));
  });

  it('compares a policy with itself under other options', async () => {
    const list = 'chwbl,chwbl:load_factor=4+key=first-message,weighted:queue-depth:1+tie_break=random';
    const { variants } = await compared(`${SMALL} --routing-policy ${list}`);
    expect(variants.map(({ name, config }) => [name, config.routing.options])).toEqual([
      ['chwbl', expect.objectContaining({ load_factor: 1.25, key: 'messages' })],
      ['chwbl load_factor=4,key=first-message', expect.objectContaining({ load_factor: 4, key: 'first-message' })],
      ['weighted queue-depth:1,tie_break=random', { scorers: 'queue-depth:1', tie_break: 'random', block_size: 0 }],
    ]);
    const { code, stderr } = await twinyard(`compare ${SMALL} --routing-policy chwbl,chwbl:load=4`);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^twinyard: --routing-policy: 'chwbl' has no option 'load'; /),
    ]);
  });

  it('returns the same measurements as run', async () => {
    const { variants } = await compared(
      `${SMALL.replace('--seeds 2', '--seed 7')} --routing-policy round-robin,weighted`,
    );
    const { stdout } = await twinyard(`run ${SMALL.replace('--seeds 2', '--seed 7')} --routing-policy weighted`);
    const { cluster, config } = JSON.parse(stdout);
    expect(variants[1]!.metrics.ttft_p99_ms!.by_seed).toEqual([cluster.ttft_p99_ms]);
    expect(variants[1]!.metrics.tokens_per_sec!.mean).toBe(cluster.tokens_per_sec);
    expect(variants[1]!.config.routing).toEqual(config.routing);
    expect(variants[1]!.config.replica).toEqual(config.replica);
  });

  it('gives policies their own scorers, and common ones to policies that take scorers', async () => {
    const list = 'round-robin,weighted,weighted:queue-depth:1+kv-utilization:2';
    const { variants } = await compared(`${SMALL} --routing-policy ${list} --routing-scorers load-balance:1`);
    expect(variants.map(({ name, config }) => [name, config.routing.options.scorers])).toEqual([
      ['round-robin', undefined],
      ['weighted', 'load-balance:1'],
      ['weighted queue-depth:1,kv-utilization:2', 'queue-depth:1,kv-utilization:2'],
    ]);
  });

  it('breaks the ties of policies that have some at random, and leaves the others as they are', async () => {
    const list = 'round-robin,least-loaded,weighted';
    const { variants } = await compared(`${SMALL} --routing-policy ${list} --tie-break random`);
    expect(variants.map(({ config }) => config.routing.options.tie_break)).toEqual([undefined, 'random', 'random']);
    const file = 'round-robin.yaml';
    writeFileSync(join(folder, file), 'routing-policy: round-robin\n');
    writeFileSync(join(folder, 'least.yaml'), 'routing-policy: least-loaded\n');
    const configs = [file, 'least.yaml'].map((name) => `--config ${join(folder, name)}`).join(' ');
    const ofFiles = await compared(`${configs} ${SMALL} --tie-break random`);
    expect(ofFiles.variants.map(({ config }) => config.routing.options.tie_break)).toEqual([undefined, 'random']);
  });

  it('tries a recorded workload with several seeds where its arrivals have jitter', async () => {
    const { comparison, variants } = await compared(
      `${TRACE} --routing-policy round-robin,least-loaded --arrival-jitter-ms 20`,
    );
    expect(comparison.seeds).toEqual([42, 43, 44, 45, 46]);
    expect(comparison.notes).toEqual([expect.stringContaining('seeds change its arrival times')]);
    expect(variants[0]!.config.arrivalJitterUs).toBe(20_000);
    expect(new Set(variants[0]!.metrics.ttft_p99_ms!.by_seed).size).toBeGreaterThan(1);
  });

  it('tries every rate, each compared with the same rate', async () => {
    const { comparison, variants } = await compared(
      `${SMALL.replace('50', '20,80,20')} --routing-policy round-robin,least-loaded`,
    );
    expect(comparison.axis).toEqual({ title: 'load', unit: 'requests/s' });
    expect(variants.map(({ name, x, against }) => [name, x, against])).toEqual([
      ['round-robin, 20/s', 20, null],
      ['least-loaded, 20/s', 20, 'round-robin, 20/s'],
      ['round-robin, 80/s', 80, null],
      ['least-loaded, 80/s', 80, 'round-robin, 80/s'],
    ]);
  });

  it('takes several values of any flag, each compared with the first', async () => {
    const sizes = await compared('--model qwen/qwen3-14b --num-requests 20 --rate 50 --seeds 2 --num-instances 1,2,3');
    expect(sizes.comparison).toMatchObject({ title: 'Configurations', axis: { title: 'num-instances', unit: '' } });
    expect(sizes.variants.map(({ name, x, against, config }) => [name, x, against, config.instances])).toEqual([
      ['num-instances 1', 1, null, 1],
      ['num-instances 2', 2, 'num-instances 1', 2],
      ['num-instances 3', 3, 'num-instances 1', 3],
    ]);
    const both = await compared(`${SMALL.replace('50', '20,40')} --scheduler fcfs,sjf --routing-policy round-robin`);
    expect(both.variants.map(({ name, series, x }) => [name, series, x])).toEqual([
      ['round-robin, scheduler fcfs, 20/s', 'round-robin, scheduler fcfs', 20],
      ['round-robin, scheduler sjf, 20/s', 'round-robin, scheduler sjf', 20],
      ['round-robin, scheduler fcfs, 40/s', 'round-robin, scheduler fcfs', 40],
      ['round-robin, scheduler sjf, 40/s', 'round-robin, scheduler sjf', 40],
    ]);
  });

  it('gives flags beside files to every variant, policies too', async () => {
    const shared = 'model: qwen/qwen3-14b\nnum-requests: 10\nrate: 50\nnum-instances: 2\n';
    const a = file('plain.yaml', `${shared}routing-policy: weighted\nrouting-scorers: queue-depth:1\n`);
    const b = file('small.yaml', `${shared}max-num-running-reqs: 8\n`);
    const one = await compared(`--config ${a} --config ${b} --routing-policy least-loaded --seeds 1`);
    expect(one.variants.map(({ name, config }) => [name, config.routing.policy])).toEqual([
      ['plain', 'least-loaded'],
      ['small', 'least-loaded'],
    ]);
    const two = await compared(`--config ${a} --config ${b} --routing-policy round-robin,least-loaded --seeds 1`);
    expect(two.variants.map(({ name }) => name)).toEqual([
      ...['plain, round-robin', 'plain, least-loaded', 'small, round-robin', 'small, least-loaded'],
    ]);
  });

  it('holds every class to a target without one, and warns of a class that no request has', async () => {
    const { variants, comparison } = await compared(
      `${SMALL} --routing-policy round-robin,least-loaded --workload mixed-slo --slo-ttft 500ms`.replace(
        '--rate 50 ',
        '',
      ),
    );
    expect(comparison.slo).toEqual({ metric: 'ttft_p99_ms', limit: 500 });
    expect(variants[0]!.metrics.slo_attainment!.mean).toBeGreaterThan(0.5);
    const { stderr } = await twinyard(
      `compare ${SMALL} --routing-policy round-robin,least-loaded --slo-ttft gold=1s --seeds 1`.replace(
        '--seeds 2 ',
        '',
      ),
    );
    expect(stderr).toBe(
      "twinyard: warning: --slo-ttft, --slo-itl, --slo-e2e: the target of 'gold' has no effect: no request has that class\n",
    );
  });

  it('reads variants from files, over which flags win', async () => {
    const shared = 'model: qwen/qwen3-14b\nnum-requests: 10\nrate: 50\n';
    const a = file('today.yaml', `${shared}num-instances: 2\nmax-num-running-reqs: 8\n`);
    const b = file('tomorrow.yml', `${shared}num-instances: 3\nflow-control: true\nqueue-shedding: false\n`);
    const { variants } = await compared(`--config ${a} --config=${b} --num-requests 5 --seeds 1`);
    expect(variants.map(({ name, config }) => [name, config.instances, config.replica.maxNumSeqs])).toEqual([
      ['today', 2, 8],
      ['tomorrow', 3, 256],
    ]);
    expect(variants[1]!.config.flowControl).toMatchObject({ queueShedding: false });
    expect(variants[1]!.config.workload).toMatchObject({ spec: { num_requests: 5 } });
  });

  it('names files of one name by their paths, and warns when they differ in more than the cluster', async () => {
    const text = 'model: qwen/qwen3-14b\nnum-requests: 5\n';
    const [a, b] = [file('one.yaml', `${text}rate: 50\n`), file('one.yml', `${text}rate: 60\n`)];
    const { stdout, stderr } = await twinyard(`compare --config ${a} --config ${b} --seeds 1`);
    expect(JSON.parse(stdout).variants.map(({ name }: { name: string }) => name)).toEqual([a, b]);
    expect(stderr).toBe(
      `twinyard: warning: ${b} has another workload than ${a}: they differ in more than the cluster\n`,
    );
  });

  it('prints a warning of several variants once', async () => {
    const { stderr } = await twinyard(
      `compare ${SMALL} --routing-policy sticky,lmetric --moe-comm-backend naive --log warn`,
    );
    expect(stderr.match(/has no effect/g)).toHaveLength(1);
  });

  it('runs a recorded workload once, and notes what that means', async () => {
    const { comparison, findings } = await compared(`${TRACE} --routing-policy round-robin,sticky`);
    expect(comparison.seeds).toEqual([42]);
    expect(comparison.notes[0]).toMatch(/^The workload is recorded/);
    expect(findings.join()).toContain('nothing is known about noise');
    const drawn = `${TRACE} --session-mode closed-loop --think-time-dist constant:value=1s`;
    expect((await compared(`${drawn} --routing-policy round-robin,sticky`)).comparison.seeds).toHaveLength(5);
  });

  it('takes workloads of run: ready-made ones and specifications, with their targets', async () => {
    const spec = file(
      'spec.yaml',
      `version: "2"
aggregate_rate: 20
num_requests: 10
clients:
  - { id: a, slo_class: critical, input_distribution: { type: constant, params: { value: 9 } }, output_distribution: { type: constant, params: { value: 9 } } }
goodput_slo_targets: { critical: { ttft_ms: 500 } }
`,
    );
    const base = '--model qwen/qwen3-14b --seeds 1 --routing-policy round-robin,least-loaded';
    const { variants } = await compared(`${base} --workload-spec ${spec} --timeout 5 --horizon 9000000`);
    expect(variants[0]!.metrics.goodput_rps!.mean).toBeGreaterThan(0);
    expect(variants[0]!.config.workload).toMatchObject({ options: { timeoutUs: 5e6, horizonUs: 9e6 } });
    const ready = await compared(`${base} --workload mixed-slo --num-requests 30`);
    expect(ready.variants[0]!.config.workload).toMatchObject({ options: { numRequests: 30 } });
  });

  it('prints a table', async () => {
    const { stdout } = await twinyard(`compare ${SMALL} --routing-policy round-robin,least-loaded --format table`);
    expect(stdout).toMatch(
      /^Routing policies\nNo variant is better than round-robin in TTFT p99 beyond noise.*\n2 variants, 2 seeds from 42 to 43, 4 runs\nRuns are too short [\s\S]*\n\nVariant +TTFT p50, ms +TTFT mean, ms +TTFT p99, ms\n/,
    );
    expect(stdout).toMatch(/\nleast-loaded .*\n\nWhat differs\n/);
  });

  it.each([
    ['routing', '--num-requests 20 --seeds 2', 5],
    ['staleness', '--num-requests 20 --seeds 1', 12],
    ['b3', '--num-requests 450 --seeds 1', 5],
    ['b3', '--trace-data examples/assistants.csv --model qwen/qwen3-14b', 5],
    ['admission', '--num-requests 50 --seeds 1 --num-instances 2', 25],
  ])('has the preset %s %s', async (preset, flags, count) => {
    const { variants, comparison } = await compared(`--preset ${preset} ${flags}`);
    expect(variants).toHaveLength(count);
    expect(comparison.headline.length).toBeGreaterThan(0);
  });

  it('caps the trace it is given for one of the policies of b3', async () => {
    const { variants } = await compared('--preset b3 --trace examples/small-trace');
    const workloads = variants.map(({ config }) => config.workload as { kind: string; maxTurns: number | null });
    expect(workloads.map(({ kind, maxTurns }) => [kind, maxTurns])).toEqual([
      ...Array(4).fill(['trace', null]),
      ['trace', 8],
    ]);
  });

  it('prints its help', async () => {
    const { code, stdout } = await twinyard('compare --help');
    expect(code).toBe(0);
    for (const flag of ['--config <file>', '--preset <name>', '--no-cache', '--trace-data <file>', '--rate <list>']) {
      expect(stdout).toContain(flag);
    }
    expect(stdout).toContain('routing, b3, staleness, admission');
  });

  it('gives examples that work', async () => {
    const here = process.cwd();
    const { stdout } = await twinyard('compare --help');
    for (const name of ['csv', 'yaml']) file(`monday.${name}`, readFileSync(`examples/small-trace.${name}`, 'utf8'));
    for (const name of ['today', 'tomorrow']) file(`${name}.yaml`, 'model: qwen/qwen3-14b\n');
    process.chdir(folder);
    try {
      for (const example of examplesIn(stdout)) {
        expect(await twinyard(`${example} --seeds 1`), example).toMatchObject({ code: 0, stderr: '' });
      }
    } finally {
      process.chdir(here);
    }
  });
});

describe('the cache', () => {
  const simulated = (stderr: string) => /(\d+) runs, (\d+) of them simulated now/.exec(stderr)!.slice(1).map(Number);
  const args = () =>
    `compare ${SMALL} --routing-policy round-robin,least-loaded --log info --cache ${join(folder, 'runs')}`;

  it('computes only missing runs, and prints the same', async () => {
    const first = await twinyard(args());
    const again = await twinyard(args());
    expect([simulated(first.stderr), simulated(again.stderr)]).toEqual([
      [4, 4],
      [4, 0],
    ]);
    const kept = readdirSync(join(folder, 'runs'));
    writeFileSync(join(folder, 'runs', kept[0]!), 'damaged');
    rmSync(join(folder, 'runs', kept[1]!));
    const repaired = await twinyard(args());
    const more = await twinyard(args().replace('--seeds 2', '--seeds 3'));
    expect([simulated(repaired.stderr), simulated(more.stderr)]).toEqual([
      [4, 2],
      [6, 2],
    ]);
    expect([again.stdout, repaired.stdout]).toEqual([first.stdout, first.stdout]);
  });

  it('is in the folder for caches, or nowhere', async () => {
    const base = `compare ${SMALL} --routing-policy round-robin,sticky --log info`;
    const env = { XDG_CACHE_HOME: join(folder, 'xdg'), HOME: join(folder, 'home') };
    await twinyard(base, { env });
    expect(readdirSync(join(folder, 'xdg', 'twinyard', 'runs'))).toHaveLength(4);
    await twinyard(base, { env: { HOME: env.HOME, XDG_CACHE_HOME: 'relative' } });
    expect(readdirSync(join(env.HOME, '.cache', 'twinyard', 'runs'))).toHaveLength(4);
    expect(simulated((await twinyard(`${base} --no-cache`, { env })).stderr)).toEqual([4, 4]);
  });

  it('is not used when the default folder cannot be created', async () => {
    const env = { XDG_CACHE_HOME: file('taken', '') };
    const { code, stderr } = await twinyard(`compare ${SMALL} --routing-policy round-robin,sticky`, { env });
    expect([code, stderr]).toEqual([
      0,
      `twinyard: warning: ${join(folder, 'taken', 'twinyard', 'runs')}: is not a folder; results are not cached\n`,
    ]);
  });
});

describe('the report', () => {
  it('is one page that needs nothing else', async () => {
    const report = join(folder, 'report.html');
    await compared(`${SMALL} --routing-policy round-robin,least-loaded --slo-ttft default=1s --report ${report}`);
    const page = readFileSync(report, 'utf8');
    expect(page).toMatch(/^<!doctype html>/);
    expect(page.match(/<svg /g)!.length).toBeGreaterThan(6);
    expect(page).not.toMatch(/\b(?:src|href)=|@import|url\(/);
    expect(page).toContain('prefers-color-scheme: dark');
    for (const title of [
      'What differs',
      'Latencies',
      'Rejections and goodput',
      'Requests by instance',
      'Load over time',
    ]) {
      expect(page).toContain(`<h2>${title}</h2>`);
    }
  });

  it('is not written over an input', async () => {
    const config = file('mine.yaml', 'model: qwen/qwen3-14b\n');
    const { code, stderr } = await twinyard(`compare --config ${config} --config ${config} --report ${config}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('which --config reads')]);
  });
});

describe('wrong input to compare', () => {
  const policies = '--routing-policy sticky,lmetric --model qwen/qwen3-14b';
  it.each([
    ['', 'compare: fewer than two variants'],
    ['--routing-policy sticky', 'compare: fewer than two variants'],
    ['--config', '--config: needs a value'],
    ['--preset rooting', "did you mean 'routing'?"],
    ['--preset routing --routing-policy sticky', '--routing-policy: is what --preset routing varies'],
    ['--preset admission --rate 5', '--rate: --preset admission has its own workload'],
    ['--preset b3 --rate 5', '--rate: --preset b3 has its own workload'],
    ['--preset b3 --num-requests 10', "--num-requests: '10' is too small; give at least 450"],
    ['--preset routing --config a.yaml', '--preset: given together with --config'],
    ['--model qwen/qwen3-14b --num-instances 2,x', "--num-instances: 'x' is not a number"],
    ['--model qwen/qwen3-14b --scheduler fcfs,sfj', "'sfj' is not known; did you mean 'sjf'?"],
    ['--routing-policy sticky,lmetrick', "'lmetrick' is not known; did you mean 'lmetric'?"],
    ['--routing-policy sticky,lmetric', '--model: is required'],
    [`${policies} --seeds 2 --seed 1`, '--seeds: given together with --seed'],
    [`${policies} --seed 1,x`, "--seed: 'x' is not a number"],
    [`${policies} --rate 1,fast`, "--rate: 'fast' is not a number"],
    [`${policies} --session-mode fixed`, '--session-mode: there is no trace'],
    [`${policies} --trace-data none.csv`, 'none.csv: no such file'],
    [`${policies} --trace-data none.csv --rate 5`, '--rate: a trace has its own requests'],
    [`${policies} --cache x --no-cache`, '--no-cache: given together with --cache'],
    [`${policies} --cache package.json`, 'package.json: is not a folder'],
    [`${policies} --prompt-tokens 5 --prompt-tokens-min 9`, '--prompt-tokens: the mean 5 is outside 9 to 7000'],
    ['--model qwen/qwen3-14b --routing-policy sticky,lmetric:queue-depth:1', '--routing-policy: has no effect'],
    [`${policies} --workload-spec none.yaml`, 'none.yaml: no such file'],
  ])('%s', async (args, message) => {
    const { code, stdout, stderr } = await twinyard(`compare ${args}`);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it.each([
    ['rounting-policy: x', ":1:1 (rounting-policy): unknown key 'rounting-policy'; did you mean 'routing-policy'?"],
    ['rate: fast', ":1:7 (rate): 'fast' is not a number"],
    ['routing-policy: wieghted', ":1:17 (routing-policy): unknown value 'wieghted'; did you mean 'weighted'?"],
    ['routing-scorers: queue-depth:1', ':1:18 (routing-scorers): has no effect with the routing policy round-robin'],
    ['session-mode: fixed', ':1:15 (session-mode): there is no trace'],
    ['seed: 4', ':1:7 (seed): is not part of a variant'],
    ['flow-control: 1', ':1:15 (flow-control): 1 is neither true nor false; give true or false'],
    ['rate: [1, 2]', ':1:1 (rate): is not a single value'],
    ['? [a]\n: 1', ":1:1: unknown key ''"],
    ['- rate', ':1:1: is not a map'],
    ['', ': holds no keys'],
    ['rate: [', ':2:1: Flow sequence'],
    ['rate: 1\n---\nrate: 2', ':2:1: a second YAML document starts here'],
    ['hardware: H100', ': --model: is required'],
  ])('%s in a file', async (text, message) => {
    const good = file('good.yaml', 'model: qwen/qwen3-14b\n');
    const bad = file('bad.yaml', `${text}\n`);
    const model = text.startsWith('hardware') ? '' : ' --model qwen/qwen3-14b';
    const { code, stderr } = await twinyard(`compare --config ${good} --config ${bad}${model}`);
    expect(code).toBe(2);
    expect(stderr).toContain(`twinyard: ${bad}${message}`);
  });
});
