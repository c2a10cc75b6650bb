import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunInputs } from '../src/experiment/experiment.js';
import { fakeRun } from '../src/experiment/fake-experiment.fixture.js';
import { ExperimentRecords } from '../src/experiment/queue/experiment-records.js';
import { connectRedis } from '../src/experiment/queue/redis-connection.js';
import { RedisExecutor } from '../src/experiment/queue/redis-executor.js';
import { ShardWorker } from '../src/experiment/queue/shard-worker.js';
import { traceRecipe } from '../src/experiment/recipes/trace-recipe.js';
import { simulateRuns } from '../src/experiment/run-experiment.js';
import { inProcessExecutor, type RunExecutor } from '../src/experiment/runs/executor.js';
import { NO_CACHE } from '../src/experiment/runs/run-cache.js';
import { programFingerprint } from '../src/experiment/runs/run-key.js';
import { resultBytes, shardsOf } from '../src/experiment/runs/shard.js';
import { HAS_REDIS, NO_REDIS_LINE, RedisServer } from './support/redis-server.js';
import { captured as twinyard } from './support/test-io.js';

if (!HAS_REDIS) process.stderr.write(NO_REDIS_LINE);

const runs = [1, 2, 3, 4, 5, 6].map((seed) => fakeRun({ seed }));

describe.skipIf(!HAS_REDIS)('shards on a queue', () => {
  let server: RedisServer;
  let look: Redis;
  let folder: string;
  const endings: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    server = await RedisServer.start();
    look = new Redis(server.url);
    folder = mkdtempSync(join(tmpdir(), 'twinyard-queue-'));
  });
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end();
    await look.flushall();
  });
  afterAll(async () => {
    look.disconnect();
    rmSync(folder, { recursive: true });
    await server.remove();
  });

  async function coordinator(changes: { mostInputBytes?: number; sharedPath?: string } = {}): Promise<RedisExecutor> {
    const program = await programFingerprint();
    const record = {
      version: '1',
      program,
      id: 'test',
      title: 't',
      command: 'c',
      createdMs: 0,
      isDetached: false,
      total: 0,
      done: 0,
    };
    const options = { program, sharedPath: null, mostInputBytes: 1e6, backOffMs: 1, ...changes };
    const executor = await RedisExecutor.open(
      await connectRedis(server.url, '--executor'),
      options,
      record,
      () => {},
      50,
    );
    endings.push(() => executor.close());
    return executor;
  }

  /** A worker of this process. */
  async function worker(executor?: RunExecutor, program?: string, sharedPath: string | null = null) {
    const version = { version: '1', program: program ?? (await programFingerprint()) };
    const own = executor ?? (await inProcessExecutor());
    const shards = new ShardWorker(await connectRedis(server.url, '--queue'), {
      ...{ version, executor: own, sharedPath, lockMs: 5000, idleMs: null },
      log: () => {},
    });
    let stop = () => {};
    const ended = shards.run(new Promise((resolve) => (stop = resolve)));
    ended.catch(() => {});
    endings.push(async () => {
      stop();
      await ended.catch(() => {});
      await shards.close();
    });
    return { ended };
  }

  const local = async (all: readonly RunInputs[]) => {
    const summaries = await simulateRuns(all, await inProcessExecutor(), NO_CACHE);
    return summaries.map(resultBytes);
  };
  const queued = async (all: readonly RunInputs[], executor: RedisExecutor) =>
    (await simulateRuns(all, executor, NO_CACHE)).map(resultBytes);

  it('have the bytes of one thread, with any number of workers', async () => {
    await Promise.all([worker(), worker()]);
    expect(await queued(runs, await coordinator())).toEqual(await local(runs));
  });

  it('are submitted again, with their inputs, when the server loses everything', async () => {
    const executor = await coordinator();
    const results = queued(runs, executor);
    while ((await look.keys('twinyard:shards-*:wait')).length === 0) await new Promise(setImmediate);
    await look.flushall();
    await worker();
    expect(await results).toEqual(await local(runs));
  });

  it('are not computed twice: not by a second coordinator, and a late result changes nothing', async () => {
    await worker();
    await queued(runs, await coordinator());
    const [shard] = await shardsOf(runs, true);
    const kept = await look.get(`twinyard:result:${shard!.hash}`);
    await look.set(`twinyard:result:${shard!.hash}`, 'late', 'NX');
    expect(await look.get(`twinyard:result:${shard!.hash}`)).toBe(kept);
    for (const end of endings.splice(0).reverse()) await end();
    // Without a worker: the results are there.
    expect(await queued(runs, await coordinator())).toEqual(await local(runs));
  });

  it('that fail are tried again, and then reported with their error', async () => {
    let tries = 0;
    const failing: RunExecutor = {
      ...(await inProcessExecutor()),
      async run() {
        tries++;
        throw new Error('thread lost');
      },
    };
    await worker(failing);
    await expect(queued(runs.slice(0, 1), await coordinator())).rejects.toThrow('thread lost');
    expect(tries).toBe(3);
    for (const end of endings.splice(0).reverse()) await end();
    // A new coordinator tries it again.
    await worker();
    expect(await queued(runs.slice(0, 1), await coordinator())).toEqual(await local(runs.slice(0, 1)));
  });

  it('leave the queue clean when their coordinator ends early, and all keys expire', async () => {
    const executor = await coordinator();
    void queued(runs, executor);
    const waiting = () => look.keys('twinyard:shards-*:wait');
    while ((await waiting()).length === 0) await new Promise(setImmediate);
    await executor.close();
    expect(await waiting()).toEqual([]);
    expect(await new ExperimentRecords(look).list()).toEqual([]);
    await worker();
    await queued(runs.slice(0, 2), await coordinator());
    for (const end of endings.splice(0).reverse()) await end();
    for (const key of await look.keys('*')) {
      expect(key).toMatch(/^twinyard:/);
      expect(await look.ttl(key), key).toBeGreaterThan(0);
      // Its time to live is how often lost workers are looked for: it is not prolonged.
      if (key.endsWith(':stalled-check')) expect(await look.pttl(key)).toBeLessThanOrEqual(5000);
    }
  });

  it('are refused by a worker of another version, which names both', async () => {
    await coordinator();
    const { ended } = await worker(undefined, 'f'.repeat(64));
    const own = (await programFingerprint()).slice(0, 8);
    await expect(ended).rejects.toMatchObject({
      code: 'OTHER_VERSION',
      problem: `this worker is version 1 (build ffffffff), the experiment 'test' on the queue needs 1 (build ${own})`,
    });
  });

  const recorded = async (data: string) => {
    const replayed = { sessionMode: 'fixed', thinkTimeMs: null, thinkTimeDist: null, maxTurns: null };
    return fakeRun({}, await traceRecipe({ header: null, data, ...replayed }));
  };
  const ROWS = Array.from(
    { length: 20 },
    (_, i) => `{"timestamp":${i},"input_length":64,"output_length":8,"hash_ids":[${i}]}\n`,
  );

  it('bring their trace by its hash, in chunks, or find it on a shared path', async () => {
    const data = join(folder, 'trace.jsonl');
    // Longer than a chunk, with few requests.
    writeFileSync(data, ROWS.map((row, i) => (i === 0 ? row : row.replace('{', `{${' '.repeat(1 << 16)}`))).join(''));
    const run = await recorded(data);
    await worker();
    expect(await queued([run], await coordinator({ mostInputBytes: 1e8 }))).toEqual(await local([run]));
    expect((await look.keys('twinyard:input:*:*')).length).toBeGreaterThan(1);
    for (const end of endings.splice(0).reverse()) await end();
    await look.flushall();
    await worker(undefined, undefined, folder);
    expect(await queued([run], await coordinator({ sharedPath: folder }))).toEqual(await local([run]));
    expect(await look.keys('twinyard:input:*:*')).toEqual([]);
  });

  it('are refused when their trace is too large, or changed after it was planned', async () => {
    const data = join(folder, 'small.jsonl');
    writeFileSync(data, ROWS.join(''));
    const run = await recorded(data);
    await worker();
    await expect(queued([run], await coordinator({ mostInputBytes: 100 }))).rejects.toMatchObject({
      code: 'INPUTS_TOO_LARGE',
    });
    writeFileSync(data, ROWS.slice(1).join(''));
    await expect(queued([run], await coordinator())).rejects.toMatchObject({ code: 'TRACE_CHANGED' });
  });

  it('of a detached sweep are listed, fetched with the bytes of one thread, and cancelled', async () => {
    const line = ['sweep', '--model', 'qwen/qwen3-14b', '--num-requests', '10', '--axis', 'rate=5,10', '--seeds', '1'];
    const queue = ['--queue', server.url];
    const detached = await twinyard([...line, '--executor', server.url, '--detach']);
    expect([detached.code, detached.stdout]).toEqual([0, expect.stringMatching(/^[0-9a-f]{12}\n$/)]);
    const id = detached.stdout.trim();
    const early = await twinyard(['experiment', 'fetch', id, ...queue]);
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('0 of 2 runs are done')]);
    expect((await twinyard(['experiment', 'status', ...queue])).stdout).toMatch(
      new RegExp(`${id} +Sweep of rate +0 of 2 +0 +detached`),
    );
    await worker();
    const fetched = await twinyard(['experiment', 'fetch', id, '--wait', ...queue]);
    const one = await twinyard(line);
    expect(fetched.stdout).toBe(one.stdout);
    expect((await twinyard(['experiment', 'cancel', id.slice(0, 6), ...queue])).stdout).toBe(
      `experiment ${id} cancelled\n`,
    );
    const gone = await twinyard(['experiment', 'fetch', id, ...queue]);
    expect([gone.code, gone.stderr]).toEqual([
      2,
      expect.stringContaining('does not exist; there are none on this server'),
    ]);
  });

  it('need a server that is there and accepts the password, which no message repeats', async () => {
    const guarded = await RedisServer.start('right-secret');
    endings.push(() => guarded.remove());
    const line = ['sweep', '--model', 'qwen/qwen3-14b', '--axis', 'rate=1,2', '--executor'];
    const wrong = await twinyard([...line, guarded.url.replace('right-secret', 'wrong-secret')]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('WRONGPASS')]);
    const none = await twinyard([...line, guarded.url.replace(':right-secret@', '')]);
    expect(none.stderr).toContain('write the password into the URL');
    await guarded.kill();
    const away = await twinyard([...line, guarded.url]);
    expect([away.code, away.stderr]).toEqual([
      2,
      expect.stringContaining(`cannot use redis://127.0.0.1:${guarded.port}: connect ECONNREFUSED`),
    ]);
    for (const { stderr } of [wrong, none, away]) expect(stderr).not.toMatch(/(?:right|wrong)-secret/);
  });
});

describe('a queue', () => {
  it.each([
    ['sweep --axis rate=1 --executor http://host:1', '--executor: is no URL of a Redis server'],
    ['sweep --axis rate=1,2 --model qwen/qwen3-14b --detach', '--detach: given without a queue'],
    [
      'sweep --axis rate=1,2 --model qwen/qwen3-14b --executor redis://h:1 --workers 2',
      '--workers: given with a queue',
    ],
    ['worker', '--queue'],
    ['worker --queue redis', '--queue: is no URL of a Redis server'],
    ['experiment', 'needs a subcommand'],
    ['experiment manifest', '--kubernetes: or --ray is required'],
  ])('%s is refused', async (line, problem) => {
    const { code, stderr } = await twinyard(line);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
  });
});
