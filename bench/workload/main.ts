import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchTable, best, seconds } from '../bench-table.js';
import { writeMillionRows } from './million-rows.js';

/**
 * How fast workloads are made, read and replayed, each number from a process of its own. Prints a table with the bound
 * each figure must keep. The plain generator and the plain reader run here too and must give the same requests.
 */
const root = fileURLToPath(new URL('../../../', import.meta.url));
const oneRun = fileURLToPath(new URL('./one-run.js', import.meta.url));
const cli = join(root, 'dist/bundle/main.js');
const exitMemory = join(root, 'bench/exit-memory.cjs');
const runs = Number(process.argv[2] ?? 5);
/** Not part of the project: the Mooncake conversation trace, where there is one. */
const conversation = join(root, '../shared/traces/mooncake/conversation_trace.jsonl');
/** Dynamo's simulator on that trace with 8 workers, on a machine of the same kind: round-robin and its KV router. */
const DYNAMO_SECONDS = { 'round-robin': 7.1, weighted: 11 };

interface Run {
  ms: number;
  requests: number;
  lastUs: number;
  checksum: number;
  memoryMb: number;
}

const measure = (...args: (string | number)[]): Run =>
  JSON.parse(execFileSync(process.execPath, [oneRun, ...args.map(String)], { encoding: 'utf8' }));
const time = ({ ms }: { ms: number }) => ms;
const table = new BenchTable();

// A million requests with sessions of growing context, prefix groups, bursts and long tails.
const million = best(runs, () => measure('ours'), time);
const made = million.ms <= 2000 && million.requests === 1e6;
table.report('generate 1,000,000 requests', seconds(million.ms), '<= 2.000 s', made);
table.report('generate 1,000,000 requests: memory', `${million.memoryMb.toFixed(0)} MB`, '', null);
const plain = measure('plain', million.lastUs);
table.report('the plain generator', seconds(plain.ms), 'same requests', plain.checksum === million.checksum);
table.report('against the plain generator', `${(plain.ms / million.ms).toFixed(1)} x`, '', null);

// A million rows of a TraceV2.
const folder = mkdtempSync(join(tmpdir(), 'twinyard-bench-'));
const data = join(folder, 'million.csv');
writeMillionRows(data);
const read = best(runs, () => measure('read', data), time);
table.report(
  'read 1,000,000 rows of TraceV2',
  seconds(read.ms),
  '<= 2.500 s',
  read.ms <= 2500 && read.requests === 1e6,
);
table.report('read 1,000,000 rows: memory', `${read.memoryMb.toFixed(0)} MB`, '', null);
const plainRead = measure('plain-read', data);
table.report('the plain reader', seconds(plainRead.ms), 'same requests', plainRead.checksum === read.checksum);
table.report('against the plain reader', `${(plainRead.ms / read.ms).toFixed(1)} x`, '', null);
rmSync(folder, { recursive: true });

// What a simulated request costs in memory, everything included.
const few = wholeProcess(simulated(100_000));
const many = wholeProcess(simulated(1_100_000));
const bytes = ((many.memoryMb - few.memoryMb) * 1024 * 1024) / 1e6;
table.report('simulate: memory per request', `${bytes.toFixed(0)} bytes`, '', null);

if (existsSync(conversation)) {
  for (const [policy, limit] of [
    ['round-robin', 600],
    ['weighted', 800],
  ] as const) {
    const sizes = '--num-instances 8 --block-size-in-tokens 64 --total-kv-blocks 16384 --max-model-len 1048576';
    const args = `replay --trace-data ${conversation} --model qwen/qwen3-14b ${sizes} --routing-policy ${policy}`;
    const run = best(runs, () => wholeProcess(args.split(' ')), time);
    const { cluster } = JSON.parse(run.stdout) as { cluster: { completed_requests: number } };
    const all = cluster.completed_requests === 12_031;
    table.report(`Mooncake conversation, ${policy}`, seconds(run.ms), `<= ${seconds(limit)}`, run.ms <= limit && all);
    const ratio = (DYNAMO_SECONDS[policy] * 1000) / run.ms;
    table.report(`against Dynamo's simulator (${DYNAMO_SECONDS[policy]} s)`, `${ratio.toFixed(0)} x`, '', null);
    table.report(
      `Mooncake conversation, ${policy}: memory`,
      `${run.memoryMb.toFixed(0)} MB`,
      '<= 300 MB',
      run.memoryMb <= 300,
    );
  }
}
table.print();

function simulated(requests: number): string[] {
  const lengths = '--prompt-tokens 256 --prompt-tokens-stdev 50 --output-tokens 64 --output-tokens-stdev 20';
  return `run --model qwen/qwen3-14b --num-instances 40 --rate 400 --num-requests ${requests} ${lengths}`.split(' ');
}

/** A command from start to exit. */
function wholeProcess(args: readonly string[]): { ms: number; memoryMb: number; stdout: string } {
  const started = performance.now();
  const ended = spawnSync(process.execPath, ['--require', exitMemory, cli, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  return { ms: performance.now() - started, memoryMb: Number(ended.output[3]), stdout: ended.stdout };
}
