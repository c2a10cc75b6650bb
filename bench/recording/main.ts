import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { percentile } from '../../src/kernel/percentile.js';
import type { ResultDocument } from '../../src/simulator/result-document.js';
import { traffic } from '../../src/workload/formats/traffic/traffic.js';
import { trafficFiles } from '../../src/workload/formats/traffic/traffic-files.js';
import { Chats } from './chats.js';

/**
 * Compares a replay of recorded traffic with what happened: sessions go through a gateway to four emulated engines,
 * each in its own process, the gateway records them, and the recording is replayed on the same fleet under the same
 * policy. Arguments: seconds, sessions started per second, and a folder for the recording.
 */
const [secondsLong = 120, chatsPerSecond = 6] = process.argv.slice(2, 4).map(Number);
const folder = process.argv[4] ?? mkdtempSync(join(tmpdir(), 'twinyard-recording-'));
const cli = join(fileURLToPath(new URL('../../../', import.meta.url)), 'dist/bundle/main.js');
const recording = join(folder, 'traffic.jsonl');
const MODEL = 'qwen/qwen3-14b';
const SCORERS = 'prefix-affinity:3,queue-depth:2,kv-utilization:2';
const ENGINES = [9801, 9802, 9803, 9804];
const PORT = 9800;
const started: ChildProcess[] = [];

function start(...args: (string | number)[]): ChildProcess {
  const child = spawn(process.execPath, [cli, ...args.map(String)], { stdio: ['ignore', 'ignore', 'inherit'] });
  started.push(child);
  return child;
}

async function ready(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/models`).catch(() => null);
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing answers on port ${port}`);
}

/** The figures of a fleet, in the units of the table. */
interface Figures {
  values: Record<string, number>;
  /** Of the requests, by replica, the busiest first. */
  shares: number[];
}

const sharesOf = (counts: readonly number[]) => {
  const all = counts.reduce((sum, count) => sum + count, 0);
  return counts.map((count) => (100 * count) / all).sort((a, b) => b - a);
};

async function lived(): Promise<Figures> {
  const { observed, table } = await traffic.read(recording);
  const { cachedTokens, e2eUs, ttftUs } = observed!;
  const sorted = (us: Float64Array) => us.map((value) => value / 1000).sort();
  const [ttft, e2e] = [sorted(ttftUs), sorted(e2eUs)];
  const sum = (values: ArrayLike<number>) => Array.from(values).reduce((total, value) => total + value, 0);
  const mean = (values: Float64Array) => sum(values) / values.length;
  const endS = Math.max(...e2eUs.map((us, row) => table.arrivalUs[row]! + us)) / 1e6;
  const byReplica = new Map<string, number>();
  for (const line of trafficFiles(recording).flatMap((file) => readFileSync(file, 'utf8').trimEnd().split('\n'))) {
    const { replica } = JSON.parse(line) as { replica: string };
    byReplica.set(replica, (byReplica.get(replica) ?? 0) + 1);
  }
  return {
    values: {
      'TTFT mean, ms': mean(ttft),
      'TTFT p50, ms': percentile(ttft, 50),
      'TTFT p99, ms': percentile(ttft, 99),
      'E2E mean, ms': mean(e2e),
      'E2E p99, ms': percentile(e2e, 99),
      'requests/s': table.count / endS,
      'output tokens/s': sum(table.outputTokens.subarray(0, table.count)) / endS,
      'prompt tokens found in caches, %': (100 * sum(cachedTokens)) / sum(table.inputTokens.subarray(0, table.count)),
    },
    shares: sharesOf([...byReplica.values()]),
  };
}

/** The same fleet: signals as old as the gateway's, ties drawn by lot. */
function replayed(): Figures {
  const fleet = ['--model', MODEL, '--num-instances', String(ENGINES.length)];
  const policy = ['--routing-policy', 'weighted', '--routing-scorers', SCORERS, '--tie-break', 'random'];
  const args = ['replay', '--trace', recording, ...fleet, ...policy, '--snapshot-refresh-interval', '1000000'];
  const text = execFileSync(process.execPath, [cli, ...args], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const { cluster, instances } = JSON.parse(text) as ResultDocument;
  return {
    values: {
      'TTFT mean, ms': cluster.ttft_mean_ms,
      'TTFT p50, ms': cluster.ttft_p50_ms,
      'TTFT p99, ms': cluster.ttft_p99_ms,
      'E2E mean, ms': cluster.e2e_mean_ms,
      'E2E p99, ms': cluster.e2e_p99_ms,
      'requests/s': cluster.responses_per_sec,
      'output tokens/s': cluster.tokens_per_sec,
      'prompt tokens found in caches, %': 100 * cluster.prompt_cache_hit_rate,
    },
    shares: sharesOf(instances.map(({ completed_requests }) => completed_requests)),
  };
}

try {
  for (const port of ENGINES) start('engine', '--model', MODEL, '--port', port);
  await Promise.all(ENGINES.map(ready));
  const config = join(folder, 'twinyard.yaml');
  writeFileSync(
    config,
    `listen: { port: ${PORT} }
admin: { port: ${PORT + 9} }
replicas: [${ENGINES.map((port) => `{ url: "http://127.0.0.1:${port}" }`).join(', ')}]
policy: { routing: { policy: weighted, options: { scorers: "${SCORERS}" } } }
health: { slow_start_ms: 0 }
record: traffic.jsonl
`,
  );
  const gateway = start('serve', '-c', config);
  await ready(PORT);
  const chats = new Chats(`http://127.0.0.1:${PORT}`, MODEL);
  await chats.drive(chatsPerSecond, secondsLong);
  const exited = once(gateway, 'exit');
  gateway.kill('SIGTERM');
  await exited;
  process.stdout.write(`${chats.responses} answers, ${chats.errors} errors\n`);
  const [live, simulated] = [await lived(), replayed()];
  const rows = [['what', 'live', 'replayed', 'difference']];
  const add = (what: string, seen: number, said: number) =>
    rows.push([what, seen.toFixed(2), said.toFixed(2), `${(100 * (said / seen - 1)).toFixed(1)} %`]);
  for (const [what, seen] of Object.entries(live.values)) add(what, seen, simulated.values[what]!);
  live.shares.forEach(
    (share, i) => void add(`requests of the ${i + 1}. busiest replica, %`, share, simulated.shares[i]!),
  );
  const width = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const [what, ...figures] of rows) {
    const cells = figures.map((cell, i) => cell.padStart(width[i + 1]!));
    process.stdout.write(`${what!.padEnd(width[0]!)}  ${cells.join('  ')}\n`);
  }
  if (chats.errors > 0 || chats.responses === 0) process.exitCode = 1;
} finally {
  for (const child of started) child.kill('SIGTERM');
  if (process.argv[4] === undefined) rmSync(folder, { recursive: true, force: true });
}
