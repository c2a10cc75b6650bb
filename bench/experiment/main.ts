import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchTable, best, seconds } from '../bench-table.js';

/**
 * How fast experiments are, each number from processes of its own. Prints a table with the bound each figure must keep.
 * "One core" is one worker in a process that may use one core only: V8's own threads would otherwise take a second one.
 */
const cli = fileURLToPath(new URL('../../../dist/bundle/main.js', import.meta.url));
const runs = Number(process.argv[2] ?? 3);
const folder = mkdtempSync(join(tmpdir(), 'twinyard-bench-'));

/** 200 runs of 2,000 requests: five policies, 40 seeds. */
const policies = 'round-robin,least-loaded,weighted,lmetric,sticky';
const common = `--model qwen/qwen3-14b --num-requests 2000 --routing-policy ${policies} --seeds 40`;
/** Prompts of 10,000 tokens, outputs of 1,500, near the capacity of eight replicas: a run takes about 0.17 s. */
const long = `${common} --num-instances 8 --workload multidoc --rate 10`;
/** A run takes about 25 ms: getting the threads' code ready takes a good part of the whole. */
const medium = `${common} --num-instances 4 --workload contentgen --rate 50`;
/** A burst of short requests: a run takes about 12 ms. */
const short = `${common} --num-instances 4 --rate 500`;

interface Timed {
  ms: number;
  stdout: string;
}

function timed(args: string, onOneCore = false): Timed {
  const command = [process.execPath, cli, 'compare', ...args.split(' ')];
  const [program, ...rest] = onOneCore ? ['taskset', '-c', '0', ...command] : command;
  const started = performance.now();
  const stdout = execFileSync(program!, rest, { encoding: 'utf8', maxBuffer: 1e8 });
  return { ms: performance.now() - started, stdout };
}

const fastest = (args: string, onOneCore = false) =>
  best(
    runs,
    () => timed(args, onOneCore),
    ({ ms }) => ms,
  );
const table = new BenchTable();
const report = table.report.bind(table);

const routing = fastest('--preset routing --no-cache');
report('compare --preset routing, 5 seeds', seconds(routing.ms), '<= 3.000 s', routing.ms <= 3000);

for (const [name, args, bound] of [
  ['200 runs of 2,000 requests', long, 1.7],
  ['200 runs of 25 ms', medium, null],
  ['200 runs of 12 ms', short, null],
] as const) {
  const two = fastest(`${args} --no-cache --workers 2`);
  report(`${name}, two workers`, seconds(two.ms), '<= 25.000 s', two.ms <= 25_000);
  const one = fastest(`${args} --no-cache --workers 1`, true);
  report(`${name}, one core`, seconds(one.ms), 'same bytes', one.stdout === two.stdout);
  const gain = one.ms / two.ms;
  const holds = bound === null ? null : gain >= bound;
  report(`${name}, two workers against one core`, `${gain.toFixed(2)} x`, bound === null ? '' : `>= ${bound} x`, holds);
}

const cache = join(folder, 'runs');
const computed = timed(`${short} --cache ${cache}`);
const kept = fastest(`${short} --cache ${cache}`);
report('200 runs that were kept', seconds(kept.ms), 'same bytes', kept.stdout === computed.stdout);

rmSync(folder, { recursive: true });
table.print();
