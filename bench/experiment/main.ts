import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * How fast experiments are, each number from processes of its own. Prints a table with the bound each figure must keep.
 * "One core" is one worker in a process that may use one core only: V8's own threads would otherwise take a second one.
 */
const cli = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const runs = Number(process.argv[2] ?? 3);
const folder = mkdtempSync(join(tmpdir(), 'twinyard-bench-'));

/** 200 runs of 2,000 requests: five policies, 40 seeds. */
const policies = 'round-robin,least-loaded,weighted,lmetric,sticky';
const cluster = `--model qwen/qwen3-14b --num-instances 4 --num-requests 2000 --routing-policy ${policies} --seeds 40`;
/** Answers of about 1,000 tokens, near what the cluster can serve. */
const long = `${cluster} --workload contentgen --rate 50`;
/** A burst of shorter ones: a run takes about 12 ms. */
const short = `${cluster} --rate 500`;

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

function best(args: string, onOneCore = false): Timed {
  const results = Array.from({ length: runs }, () => timed(args, onOneCore));
  return results.reduce((a, b) => (b.ms < a.ms ? b : a));
}

const rows: string[][] = [];
function report(what: string, measured: string, bound: string, holds: boolean | null): void {
  rows.push([what, measured, bound, holds === null ? '' : holds ? 'holds' : 'MISSED']);
  process.stderr.write(`${rows.at(-1)!.join(' | ')}\n`);
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(3)} s`;

const routing = best('--preset routing --no-cache');
report('compare --preset routing, 5 seeds', seconds(routing.ms), '<= 3.000 s', routing.ms <= 3000);

for (const [name, args, bound] of [
  ['200 runs of 2,000 requests', long, 1.7],
  ['200 runs of 2,000 short requests', short, null],
] as const) {
  const two = best(`${args} --no-cache --workers 2`);
  report(`${name}, two workers`, seconds(two.ms), '<= 25.000 s', two.ms <= 25_000);
  const one = best(`${args} --no-cache --workers 1`, true);
  report(`${name}, one core`, seconds(one.ms), 'same bytes', one.stdout === two.stdout);
  const gain = one.ms / two.ms;
  const holds = bound === null ? null : gain >= bound;
  report(`${name}, two workers against one core`, `${gain.toFixed(2)} x`, bound === null ? '' : `>= ${bound} x`, holds);
}

const cache = join(folder, 'runs');
const computed = timed(`${short} --cache ${cache}`);
const kept = best(`${short} --cache ${cache}`);
report('200 runs that were kept', seconds(kept.ms), 'same bytes', kept.stdout === computed.stdout);

rmSync(folder, { recursive: true });
const width = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
for (const row of rows) {
  const cells = row.map((cell, i) => cell.padEnd(width[i]!));
  process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
}
process.exitCode = rows.some((row) => row[3] === 'MISSED') ? 1 : 0;
