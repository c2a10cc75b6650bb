import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fakeRun, fakeSummary } from '../../src/experiment/fake-experiment.fixture.js';
import { ExperimentRecords } from '../../src/experiment/queue/experiment-records.js';
import { connectRedis } from '../../src/experiment/queue/redis-connection.js';
import { RedisExecutor } from '../../src/experiment/queue/redis-executor.js';
import { ShardWorker } from '../../src/experiment/queue/shard-worker.js';
import { programFingerprint } from '../../src/experiment/runs/run-key.js';
import { resultBytes, shardsOf } from '../../src/experiment/runs/shard.js';
import { BenchTable, seconds } from '../bench-table.js';

/**
 * What a queue on Redis costs, and what a second worker gains. Needs redis-server, which it starts on a port of its own. The
 * machine should be idle: two workers need two cores, and the coordinator only waits.
 */
const cli = fileURLToPath(new URL('../../../dist/bundle/main.js', import.meta.url));
const PORT = 16_399;
const URL_OF = `redis://127.0.0.1:${PORT}`;
const SHARDS = Number(process.argv[2] ?? 2000);
/** Runs of about a quarter of a second. */
const SWEEP = [
  ...['sweep', '--model', 'qwen/qwen3-14b', '--num-instances', '8', '--workload', 'multidoc', '--num-requests', '2000'],
  ...['--axis', 'rate=6,8,10,12', '--no-cache', '--executor', URL_OF],
];
const MEASURED = ['--seeds', '30'];
/** Other seeds than those that are measured: eight runs for each of two workers. */
const WARM_UP = ['--seed', '1,2,3,4'];
const table = new BenchTable();
const server = spawn('redis-server', ['--port', String(PORT), '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });

async function costPerShard(): Promise<number> {
  const program = await programFingerprint();
  const version = { version: 'bench', program };
  const result = resultBytes(fakeSummary());
  const executor = { width: 1, isShared: false, run: async () => result, close: async () => {} };
  const options = { version, executor, sharedPath: null, lockMs: 30_000, idleMs: null, log: () => {} };
  const worker = new ShardWorker(await connectRedis(URL_OF, 'bench'), options);
  let stop = () => {};
  const ended = worker.run(new Promise((resolve) => (stop = resolve)));
  const label = { id: 'bench', title: 'bench', command: '', createdMs: 0, isDetached: false, total: 0, done: 0 };
  const queue = { program, sharedPath: null, mostInputBytes: 0 };
  const coordinator = await RedisExecutor.open(
    await connectRedis(URL_OF, 'bench'),
    queue,
    { ...version, ...label },
    () => {},
  );
  const runs = Array.from({ length: SHARDS }, (_, seed) => fakeRun({ seed }));
  const shards = await shardsOf(runs, true);
  const started = performance.now();
  await Promise.all(shards.map((shard) => coordinator.run(shard)));
  const ms = (performance.now() - started) / SHARDS;
  await coordinator.close();
  stop();
  await ended;
  await worker.close();
  return ms;
}

async function flush(): Promise<void> {
  const redis = await connectRedis(URL_OF, 'bench');
  await redis.flushall();
  redis.disconnect();
}

async function sweep(seeds: readonly string[]): Promise<{ ms: number; stdout: string }> {
  const started = performance.now();
  const child = spawn(process.execPath, [cli, ...SWEEP, ...seeds], { stdio: ['ignore', 'pipe', 'inherit'] });
  let stdout = '';
  child.stdout.on('data', (piece) => (stdout += piece));
  await new Promise((resolve) => child.once('exit', resolve));
  return { ms: performance.now() - started, stdout };
}

/** Workers that are up; @param isWarm and whose code is compiled: it takes a second of their time, however many there are. */
async function swept(workers: number, isWarm: boolean): Promise<{ ms: number; stdout: string }> {
  await flush();
  const children: ChildProcess[] = [];
  for (let i = 0; i < workers; i++) {
    // A core for each: V8's own threads would otherwise take a second one from a single worker.
    const worker = [process.execPath, cli, 'worker', '--queue', URL_OF, '--threads', '1'];
    children.push(spawn('taskset', ['-c', String(i), ...worker], { stdio: 'ignore' }));
  }
  const redis = await connectRedis(URL_OF, 'bench');
  const records = new ExperimentRecords(redis);
  while ((await records.workers(Date.now())).length < workers) await new Promise((resolve) => setTimeout(resolve, 20));
  redis.disconnect();
  if (isWarm) await sweep(WARM_UP);
  const result = await sweep(MEASURED);
  for (const one of children) one.kill('SIGKILL');
  return result;
}

try {
  const cost = await costPerShard();
  table.report(`queue's own cost of a shard, ${SHARDS} shards`, `${cost.toFixed(2)} ms`, '<= 3 ms', cost <= 3);
  for (const isWarm of [false, true]) {
    const which = isWarm ? 'warm' : 'just started';
    const one = await swept(1, isWarm);
    table.report(`120 runs, one worker, ${which}`, seconds(one.ms), '', null);
    const two = await swept(2, isWarm);
    table.report(`120 runs, two workers, ${which}`, seconds(two.ms), 'same bytes', one.stdout === two.stdout);
    const gain = one.ms / two.ms;
    const bound = isWarm ? '>= 1.8 x' : '';
    table.report(`two workers against one, ${which}`, `${gain.toFixed(2)} x`, bound, isWarm ? gain >= 1.8 : null);
  }
} finally {
  server.kill();
}
table.print();
process.exit(0);
