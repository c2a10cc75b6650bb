import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { mean, percentile } from '../../src/kernel/percentile.js';
import type { Observation, ObserveOptions, ObservePlan } from '../../src/observe/drive/observation.js';
import { observe } from '../../src/observe/drive/observe.js';
import { simulate } from '../../src/simulator/simulate.js';
import { generateSpecWorkload } from '../../src/workload/generate/generate-spec-workload.js';
import type { WorkloadSpec } from '../../src/workload/spec/workload-spec.js';
import { BenchTable } from '../bench-table.js';
import { cluster } from '../simulator/scenario.js';

/**
 * How far off the load driver itself is: an emulated engine in a process of its own is observed, and what was observed is
 * replayed on the same model. The engine does what the model says, so that what is left between the two is the driver's error
 * and the time that HTTP takes: about a millisecond for a first token. Prompts are long, so that this is little of the whole; with
 * prompts of 600 tokens, whose first token takes 37 ms, it is 2 to 3 % and misses the bound. Of several rounds the one in the
 * middle counts: a machine that does something else for a moment is late. Arguments: requests per second, seconds of a round,
 * rounds.
 */
const BOUND = 0.02;
const LATENESS_MS = 10;
const PREWARM_US = 2e6;
const rate = Number(process.argv[2] ?? 4);
const seconds = Number(process.argv[3] ?? 5);
const rounds = Number(process.argv[4] ?? 3);

const OPTIONS: ObserveOptions = {
  apiFormat: 'chat',
  streaming: true,
  constrained: true,
  maxConcurrency: 256,
  warmUpRequests: 0,
  prewarmUs: 0,
  timeoutUs: 60e6,
  maxLatenessUs: LATENESS_MS * 1000,
  recordItl: false,
  scrapeIntervalMs: null,
};

const SPEC: WorkloadSpec = {
  version: '2',
  aggregate_rate: rate,
  num_requests: Math.round(rate * seconds),
  clients: [
    {
      id: 'chat',
      rate_fraction: 1,
      arrival: { process: 'poisson' },
      input_distribution: { type: 'gaussian', params: { mean: 5000, std_dev: 1500, min: 1000, max: 9000 } },
      output_distribution: { type: 'gaussian', params: { mean: 60, std_dev: 25, min: 5, max: 150 } },
      prefix_group: 'system',
      prefix_length: 256,
    },
  ],
};

/** What was observed of requests, and what the simulator says of the same. */
interface Compared {
  measured: { ttft: number; e2e: number };
  model: { ttft: number; e2e: number };
  /** Milliseconds that first tokens came later than the model says, sorted. */
  late: Float64Array;
}

function compared({ document, trace }: Observation): Compared {
  const { config, latency } = cluster(1, 'round-robin');
  const { document: said, outcomes } = simulate(config, { table: trace!.table }, latency);
  const { ttftUs } = trace!.observed!;
  return {
    measured: { ttft: document.ttft_mean_ms, e2e: document.e2e_mean_ms },
    model: { ttft: said.cluster.ttft_mean_ms, e2e: said.cluster.e2e_mean_ms },
    late: ttftUs.map((us, row) => (us - outcomes.ttftUs[row]!) / 1000).sort(),
  };
}

const child = fork(fileURLToPath(new URL('../engine/engine-process.js', import.meta.url)));
const [{ url }] = (await once(child, 'message')) as [{ url: string }];

async function round(seed: number, prewarmUs: number): Promise<Observation> {
  const workload = generateSpecWorkload(SPEC, { seed });
  const plan: ObservePlan = { workload, horizonUs: null, urgency: () => 0 };
  return observe(plan, { url, model: 'qwen/qwen3-14b' }, { ...OPTIONS, prewarmUs });
}

// The first requests find cold code on both sides.
const seen = [await round(1, PREWARM_US)];
while (seen.length < rounds) seen.push(await round(seen.length + 1, 0));
const exited = once(child, 'exit');
child.disconnect();
await exited;

const table = new BenchTable();
const all = seen.map(compared);
for (const name of ['ttft', 'e2e'] as const) {
  const sorted = all
    .map(({ measured, model }) => ({ measured: measured[name], model: model[name] }))
    .map((one) => ({ ...one, off: one.measured / one.model - 1 }))
    .sort((a, b) => a.off - b.off);
  const { measured, model, off } = sorted[rounds >> 1]!;
  const others = sorted.map((one) => `${(100 * one.off).toFixed(2)} %`).join(', ');
  const figures = `${(100 * off).toFixed(2)} % (${measured.toFixed(2)} ms, model ${model.toFixed(2)} ms; rounds ${others})`;
  table.report(`${name.toUpperCase()} mean off by`, figures, `at most ${100 * BOUND} %`, Math.abs(off) <= BOUND);
}
const late = Float64Array.from(all, (one) => percentile(one.late, 50)).sort()[rounds >> 1]!;
table.report('first token later, p50', `${late.toFixed(2)} ms`, '', null);
const lateness = seen.map(({ document }) => document.driver.lateness.p99).sort((a, b) => a - b)[rounds >> 1]!;
table.report('driver late, p99', `${lateness.toFixed(2)} ms`, `at most ${LATENESS_MS} ms`, lateness <= LATENESS_MS);
const exact = mean(seen.map(({ document: { prompts } }) => prompts.difference.exact / prompts.difference.compared));
table.report('prompts as long as planned', `${(100 * exact).toFixed(1)} %`, '100 %', exact === 1);
const failed = seen.reduce((sum, { document }) => sum + document.requests.failed, 0);
table.report('requests without an answer', String(failed), '0', failed === 0);
table.print();
