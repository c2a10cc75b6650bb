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

/** 200 runs of 2,000 requests. */
const policies = 'round-robin,least-loaded,weighted,lmetric,sticky';
const many = `--model qwen/qwen3-14b --num-instances 4 --rate 100 --num-requests 2000 --routing-policy ${policies} --seeds 40`;

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

const two = best(`${many} --no-cache --workers 2`);
report('200 runs of 2,000 requests, two workers', seconds(two.ms), '<= 25.000 s', two.ms <= 25_000);
const one = best(`${many} --no-cache --workers 1`, true);
report('200 runs of 2,000 requests, one core', seconds(one.ms), 'same bytes', one.stdout === two.stdout);
const gain = one.ms / two.ms;
report('two workers against one core', `${gain.toFixed(2)} x`, '>= 1.7 x', gain >= 1.7);

const cache = join(folder, 'runs');
timed(`${many} --cache ${cache}`);
const kept = best(`${many} --cache ${cache}`);
report('200 runs that were kept', seconds(kept.ms), 'same bytes', kept.stdout === two.stdout);

rmSync(folder, { recursive: true });
const width = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
for (const row of rows) {
  const cells = row.map((cell, i) => cell.padEnd(width[i]!));
  process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
}
process.exitCode = rows.some((row) => row[3] === 'MISSED') ? 1 : 0;
