import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { BenchTable, best, seconds } from '../bench-table.js';

/**
 * How fast the simulator is, each number from processes of its own. Prints a table with the bound each figure must keep.
 * BLIS' figures for perf-10k (8.6 s, 495 MB) were measured on a machine of the same kind, not in this run; the plain
 * reference runs here and must give identical results.
 */
const BLIS_SECONDS = 8.6;
const root = fileURLToPath(new URL('../../../', import.meta.url));
const oneRun = fileURLToPath(new URL('./one-run.js', import.meta.url));
const cli = join(root, 'dist/bundle/main.js');
const runs = Number(process.argv[2] ?? 7);

interface Run {
  readMs: number;
  simulateMs: number;
  requests: number;
  checksum: number;
  memoryMb: number;
}

const folder = mkdtempSync(join(tmpdir(), 'twinyard-bench-'));
const golden = join(root, 'test/golden/perf-10k');
writeFileSync(join(folder, 'trace.csv'), gunzipSync(readFileSync(join(golden, 'trace.csv.gz'))));
writeFileSync(join(folder, 'trace.yaml'), readFileSync(join(golden, 'trace.yaml')));

const measure = (...args: (string | number)[]): Run =>
  JSON.parse(execFileSync(process.execPath, [oneRun, folder, ...args.map(String)], { encoding: 'utf8' }));

const table = new BenchTable();
const report = table.report.bind(table);

// perf-10k: reading and simulating, then the whole command.
const total = (run: Run) => run.readMs + run.simulateMs;
const small = best(runs, () => measure('fast', 'weighted', 4, 1, 1), total);
report('perf-10k: read and simulate', seconds(total(small)), '<= 0.220 s', total(small) <= 220);
const ratio = (BLIS_SECONDS * 1000) / total(small);
report('perf-10k: against BLIS (8.6 s)', `${ratio.toFixed(0)} x`, '', null);

const command = ['replay', '--model', 'qwen/qwen3-14b', '--num-instances', '4', '--routing-policy', 'weighted'];
command.push('--latency-model', 'trained-physics');
const wholeMs = best(
  runs,
  () => {
    const started = performance.now();
    execFileSync(process.execPath, [cli, ...command, '--trace', join(folder, 'trace')]);
    return performance.now() - started;
  },
  (ms) => ms,
);
report('perf-10k: whole process', seconds(wholeMs), '<= 0.400 s', wholeMs <= 400);
report('perf-10k: memory', `${small.memoryMb.toFixed(0)} MB`, '<= 200 MB', small.memoryMb <= 200);

const warm = best(
  3,
  () => measure('warm', 'weighted', 4, 1, 1),
  (run) => run.simulateMs,
);
report('perf-10k: simulate, sixth time in a process', seconds(warm.simulateMs), '', null);

const reference = measure('reference', 'weighted', 4, 1, 1);
const same = reference.checksum === small.checksum;
report('perf-10k: plain reference', seconds(reference.simulateMs), 'identical results', same);
report('perf-10k: against the plain reference', `${(reference.simulateMs / small.simulateMs).toFixed(0)} x`, '', null);

const simulated = (run: Run) => run.simulateMs;
const byDefault = best(runs, () => measure('default', 'weighted', 4, 1, 1), simulated);
const dearer = byDefault.simulateMs / small.simulateMs;
report('perf-10k: default latency model', `${dearer.toFixed(2)} x trained-physics`, '<= 1.2 x', dearer <= 1.2);

// 100,000 requests on 40 instances.
const wide = best(3, () => measure('fast', 'weighted', 40, 10, 1), simulated);
report('100,000 requests, 40 instances', seconds(wide.simulateMs), '<= 2.000 s', wide.simulateMs <= 2000);

// Growth with the length of the trace, at the same load.
for (const policy of ['round-robin', 'weighted']) {
  const short = best(5, () => measure('fast', policy, 4, 1, 1), simulated);
  const long = best(3, () => measure('fast', policy, 4, 1, 10), simulated);
  const growth = long.simulateMs / short.simulateMs;
  report(`10 times the requests, ${policy}`, `${growth.toFixed(2)} x`, '<= 10.5 x', growth <= 10.5);
}

// Growth with the number of instances, at the same load per instance and the same number of requests.
for (const [policy, bound] of [
  ['round-robin', 1.5],
  ['weighted', 2.5],
] as const) {
  const four = best(3, () => measure('fast', policy, 4, 1, 16), simulated);
  const sixtyFour = best(3, () => measure('fast', policy, 64, 16, 1), simulated);
  const growth = sixtyFour.simulateMs / sixtyFour.requests / (four.simulateMs / four.requests);
  report(
    `64 instances instead of 4, ${policy}`,
    `${growth.toFixed(2)} x per request`,
    `<= ${bound} x`,
    growth <= bound,
  );
}

const million = measure('fast', 'weighted', 40, 10, 10);
report('1,000,000 requests, 40 instances', seconds(million.simulateMs), '', null);
report('1,000,000 requests: memory', `${million.memoryMb.toFixed(0)} MB`, '<= 1000 MB', million.memoryMb <= 1000);

rmSync(folder, { recursive: true });
table.print();
