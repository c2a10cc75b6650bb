import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ResultDocument } from '../../simulator/result-document.js';
import { captured as twinyard } from '../test-io.fixture.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples/workloads', import.meta.url));
const RUN = 'run --model qwen/qwen3-14b';
const LENGTHS = `input_distribution: { type: constant, params: { value: 80 } }
    output_distribution: { type: constant, params: { value: 9 } }`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** A client with a steady rate and further keys. */
const steady = (id: string, more = '') => `  - id: ${id}\n    arrival: { process: constant }\n    ${LENGTHS}\n${more}`;

async function result(args: string): Promise<ResultDocument> {
  const ended = await twinyard(args);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(ended.stdout);
}

describe('run --workload-spec', () => {
  it.each(readdirSync(EXAMPLES).filter((name) => name.endsWith('.yaml')))(
    'runs examples/workloads/%s',
    async (name) => {
      const { cluster } = await result(`${RUN} --num-instances 2 --workload-spec ${join(EXAMPLES, name)}`);
      expect(cluster.generated_requests).toBeGreaterThan(50);
      expect(cluster.completed_requests + cluster.timed_out_requests).toBe(cluster.generated_requests);
    },
  );

  it('names the source of the requests in its result', async () => {
    const path = file(
      'plain.yaml',
      `version: "2"\naggregate_rate: 20\nseed: 7\nnum_requests: 30\nclients:\n${steady('a')}`,
    );
    const { cluster, config } = await result(`${RUN} --workload-spec ${path}`);
    expect(cluster.generated_requests).toBe(30);
    expect(config.seed).toBe(42);
    expect(config.workload).toEqual({
      command: 'run',
      workloadSpec: path,
      workloadSeed: 7,
      rate: 20,
      numRequests: 30,
      timeout: null,
    });
  });

  it('lets flags that are given win over the file', async () => {
    const path = file(
      'flags.yaml',
      `version: "2"\naggregate_rate: 20\nseed: 7\nnum_requests: 30\nclients:\n${steady('a')}`,
    );
    const metrics = join(folder, 'metrics.json');
    const flags = `--seed 9 --rate 50 --num-requests 12 --timeout 2.5 --metrics-path ${metrics}`;
    const { config } = await result(`${RUN} --workload-spec ${path} ${flags}`);
    expect(config.workload).toMatchObject({ workloadSeed: 9, rate: 50, numRequests: 12, timeout: 2.5 });
    const { requests } = JSON.parse(readFileSync(metrics, 'utf8'));
    expect(requests.map((request: { arrival_us: number }) => request.arrival_us).slice(0, 2)).toEqual([20_000, 40_000]);
    expect(requests).toHaveLength(12);
    const early = await result(`${RUN} --workload-spec ${path} --horizon 250000`);
    expect(early.cluster).toMatchObject({ generated_requests: 5, not_arrived: 0 });
    const hurried = await result(`${RUN} --workload-spec ${path} --timeout 0.00001 --log error`);
    expect(hurried.cluster.timed_out_requests).toBe(30);
  });

  it('measures goodput by the targets of the file, unless flags set others', async () => {
    const targets = 'goodput_slo_targets: { critical: { ttft_ms: 500, itl_ms: 3, e2e_ms: 100 } }\n';
    const clients = `clients:\n${steady('a', '    slo_class: critical\n')}`;
    const path = file('targets.yaml', `version: "2"\naggregate_rate: 20\n${targets}${clients}`);
    const { config, goodput } = await result(`${RUN} --workload-spec ${path} --slo-e2e critical=1s`);
    expect(config.goodputTargets).toEqual({ critical: { ttftUs: 500_000, itlUs: 3000, e2eUs: 1_000_000 } });
    expect(goodput!.per_class.critical!.slo_attainment_by_dim).toEqual({ ttft: 1, itl: 0, e2e: 1 });
  });

  it('warns when clients with a rate use up all requests', async () => {
    const users = `  - id: users\n    concurrency: 2\n    ${LENGTHS}\n`;
    const text = `version: "2"\naggregate_rate: 20\nclients:\n${steady('a')}${users}`;
    const { code, stderr } = await twinyard(`${RUN} --workload-spec ${file('mixed.yaml', text)}`);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^twinyard: warning: .*mixed\.yaml: clients with a rate use up num_requests, .*horizon instead\n$/,
    );
    const timed = file('timed.yaml', `${text}horizon: 3000000\n`);
    const { cluster } = await result(`${RUN} --workload-spec ${timed}`);
    expect(cluster.generated_requests).toBeGreaterThan(70);
  });

  it('warns when a written trace cannot record growing contexts', async () => {
    const sessions = join(EXAMPLES, 'sessions.yaml');
    const { code, stderr } = await twinyard(
      `${RUN} --workload-spec ${sessions} --trace-output ${join(folder, 'sessions')}`,
    );
    expect(code).toBe(0);
    expect(stderr).toContain('warning: --trace-output: a trace does not record growing contexts');
  });

  it('warns when no instance serves the model that clients request', async () => {
    const path = file(
      'model.yaml',
      `version: "2"\naggregate_rate: 20\nclients:\n${steady('a', '    model: acme/one\n')}`,
    );
    const { stderr } = await twinyard(`${RUN} --workload-spec ${path}`);
    expect(stderr).toContain("warning: --workload-spec (model): no instance serves 'acme/one'");
  });

  it.each([
    ['--workload chatbot', '--workload: given together with --workload-spec; keep one of them'],
    ['--concurrency 4', '--concurrency: --workload-spec sets it for each client'],
    ['--prompt-tokens 4', '--prompt-tokens: --workload-spec sets it for each client'],
    ['--prefix-tokens 4', '--prefix-tokens: --workload-spec sets it for each client'],
  ])('refuses %s', async (flag, message) => {
    const { code, stdout, stderr } = await twinyard(`${RUN} --workload-spec ${join(EXAMPLES, 'first.yaml')} ${flag}`);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  it.each(['users.yaml', 'shared-prefix.yaml'])(
    'refuses a rate for %s, where no client has a share of it',
    async (name) => {
      const { code, stderr } = await twinyard(`${RUN} --workload-spec ${join(EXAMPLES, name)} --rate 5`);
      expect(code).toBe(2);
      expect(stderr).toContain('--rate: no client of');
    },
  );

  it('names file, line and column of a mistake, and writes nothing', async () => {
    const path = file(
      'wrong.yaml',
      `version: "2"\naggregate_rate: 20\nclients:\n${steady('a', '    prefix_lenght: 5\n')}`,
    );
    const { code, stdout, stderr } = await twinyard(
      `${RUN} --workload-spec ${path} --metrics-path ${join(folder, 'none.json')}`,
    );
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(
      `twinyard: ${path}:8:5 (clients[0].prefix_lenght): unknown key 'prefix_lenght'; did you mean 'prefix_length'?`,
    );
    expect(readdirSync(folder)).not.toContain('none.json');
    const missing = await twinyard(`${RUN} --workload-spec ${join(folder, 'missing.yaml')}`);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('missing.yaml: no such file') });
  });

  it('never writes over the specification', async () => {
    const path = file('input.yaml', `version: "2"\naggregate_rate: 20\nclients:\n${steady('a')}`);
    const { code, stderr } = await twinyard(`${RUN} --workload-spec ${path} --trace-output ${join(folder, 'input')}`);
    expect(code).toBe(2);
    expect(stderr).toContain('--trace-output: would overwrite');
  });
});

describe('run --workload', () => {
  it.each([
    ['rag', 'qwen/qwen3-14b'],
    ['agentic-coder', 'qwen/qwen3-coder-30b-a3b'],
    ['mixed-slo', 'qwen/qwen3-14b'],
  ])('%s', async (name, model) => {
    const common = `run --model ${model} --num-instances 2 --workload ${name} --num-requests 60`;
    const { cluster, config } = await result(common);
    expect(cluster.generated_requests).toBe(60);
    expect(cluster.dropped_unservable).toBe(0);
    expect(config.workload).toMatchObject({ workloadSpec: `preset:${name}`, numRequests: 60, workloadSeed: 42 });
    expect((await result(`${common} --rate 9`)).config.workload).toMatchObject({ rate: 9 });
  });

  it.each([
    [
      '--workload rag --concurrency 3',
      "--concurrency: --workload rag defines its own clients; leave it out, or edit what 'twinyard convert preset rag' prints",
    ],
    ['--workload mixed-slo --output-tokens 3', '--output-tokens: --workload mixed-slo defines its own clients'],
  ])('refuses %s', async (flags, message) => {
    const { code, stderr } = await twinyard(`${RUN} ${flags}`);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('compose', () => {
  const both = `--from ${join(EXAMPLES, 'tenants.yaml')} --from ${join(EXAMPLES, 'night.yaml')}`;

  it('prints one specification that runs', async () => {
    const { code, stdout, stderr } = await twinyard(`compose ${both}`);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^twinyard: warning: .*tenants\.yaml: num_requests 400 is left out; set --num-requests when you run it\n$/,
    );
    expect(stdout).toContain('aggregate_rate: 14\n');
    const path = file('both.yaml', stdout);
    const { fairness } = await result(`${RUN} --workload-spec ${path} --num-requests 300`);
    expect(Object.keys(fairness.tenants)).toEqual(['finance', 'office', 'research', 'shop']);
  });

  it('prints its help', async () => {
    const { code, stdout } = await twinyard('compose --help');
    expect(code).toBe(0);
    expect(stdout).toContain('--from <file>  a workload specification; repeat it for each');
  });

  it.each([
    ['compose', '--from: is required; give it once for each specification'],
    ['compose --from', '--from: needs a value'],
    ['compose --from a.yaml b.yaml', "'b.yaml': unexpected argument"],
    ['compose --form a.yaml', 'did you mean --from?'],
    [`compose ${both} --from /no/such.yaml`, '/no/such.yaml: no such file'],
    [`compose ${both} --from ${join(EXAMPLES, 'first.yaml')}`, 'first.yaml (clients[4].slo_class): is missing'],
    [
      `compose ${both} --from ${join(EXAMPLES, 'shared-prefix.yaml')}`,
      'shared-prefix.yaml (inference_perf): cannot be combined',
    ],
  ])('refuses %s', async (args, message) => {
    const { code, stdout, stderr } = await twinyard(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^twinyard: [^\n]+\n$/);
  });
});
