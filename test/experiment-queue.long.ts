import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLI } from './support/cli.js';
import { HAS_REDIS, NO_REDIS_LINE, RedisServer } from './support/redis-server.js';

if (!HAS_REDIS) process.stderr.write(NO_REDIS_LINE);

/** 24 runs of some tenths of a second: enough for a failure in the middle. */
const SWEEP = [
  ...['sweep', '--model', 'qwen/qwen3-14b', '--num-requests', '600', '--no-cache', '--seeds', '3'],
  ...['--axis', 'num-instances=2,4', '--axis', 'rate=40,80', '--axis', 'routing-policy=round-robin,lmetric'],
];
const LOCK_S = 3;

describe.skipIf(!HAS_REDIS)('three workers, and what may happen to them', () => {
  let expected: string;
  let server: RedisServer;
  let look: Redis;
  const children = new Set<ChildProcess>();
  beforeAll(() => {
    expected = execFileSync(process.execPath, [CLI, ...SWEEP, '--workers', '1'], { encoding: 'utf8', maxBuffer: 1e8 });
  }, 300_000);
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    children.clear();
    look.disconnect();
    await server.remove();
  });
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  async function started(appendOnly: boolean): Promise<ChildProcess[]> {
    server = await RedisServer.start('', appendOnly);
    look = new Redis(server.url, { maxRetriesPerRequest: null, retryStrategy: () => 100 });
    look.on('error', () => {});
    return [1, 2, 3].map(() => worker());
  }

  function worker(): ChildProcess {
    const flags = ['worker', '--queue', server.url, '--threads', '1', '--lock', String(LOCK_S)];
    const child = spawn(process.execPath, [CLI, ...flags], { stdio: 'ignore' });
    children.add(child);
    return child;
  }

  /** The bytes that the coordinator prints. */
  function swept(): Promise<string> {
    const child = spawn(process.execPath, [CLI, ...SWEEP, '--executor', server.url], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    children.add(child);
    let text = '';
    child.stdout.on('data', (piece) => (text += piece));
    return new Promise((resolve) => child.once('exit', () => resolve(text)));
  }

  async function results(least: number): Promise<void> {
    while ((await look.keys('twinyard:result:*')).length < least) await new Promise((done) => setTimeout(done, 50));
  }

  it('one is killed and one stopped until another has its run: its late result changes nothing', async () => {
    const [first, second] = await started(false);
    const document = swept();
    await results(4);
    first!.kill('SIGKILL');
    second!.kill('SIGSTOP');
    // Everything is computed without them, what they had included.
    await results(24);
    second!.kill('SIGCONT');
    expect(await document).toBe(expected);
    const before = await look.mget(await look.keys('twinyard:result:*'));
    second!.kill('SIGTERM');
    await new Promise((done) => second!.once('exit', done));
    expect((await look.mget(await look.keys('twinyard:result:*'))).sort()).toEqual(before.sort());
  }, 300_000);

  it.each([
    ['with its append-only file', true],
    ['without it: everything that it held is lost', false],
  ])(
    'Redis is killed and started again %s',
    async (_, appendOnly) => {
      await started(appendOnly);
      const document = swept();
      await results(4);
      await server.kill();
      await server.start(appendOnly);
      if (appendOnly) await results(4);
      expect(await document).toBe(expected);
    },
    300_000,
  );
});
