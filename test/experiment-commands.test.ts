import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRedis } from '../src/experiment/queue/redis-connection.js';
import { ShardWorker } from '../src/experiment/queue/shard-worker.js';
import { inProcessExecutor } from '../src/experiment/runs/executor.js';
import { programFingerprint } from '../src/experiment/runs/run-key.js';
import { makeCertificate } from '../src/gateway/server/certificate.fixture.js';
import { CLI } from './support/cli.js';
import { HAS_REDIS, NO_REDIS_LINE, RedisServer } from './support/redis-server.js';
import { captured as twinyard } from './support/test-io.js';

if (!HAS_REDIS) process.stderr.write(NO_REDIS_LINE);

const MODEL = '--model qwen/qwen3-14b --no-cache';
const COMPARE = `compare ${MODEL} --num-instances 2 --num-requests 20 --routing-policy round-robin,lmetric --seeds 2`;
const LENGTHS = '--prompt-tokens 64 --output-tokens 2 --max-num-running-reqs 8 --arrival constant';
const PLAN = `plan ${MODEL} --rate 20 ${LENGTHS} --num-requests 100 --seeds 1 --slo-ttft mean=500ms`;
const TUNE = `tune ${MODEL} --num-instances 2 --num-requests 6 --rate 50 --budget 80 --policies round-robin,least-loaded`;

describe.skipIf(!HAS_REDIS)('experiments on a queue', () => {
  let server: RedisServer;
  let folder: string;
  let endWorker: () => Promise<void>;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'twinyard-commands-'));
    server = await RedisServer.start();
    const shards = new ShardWorker(await connectRedis(server.url, '--queue'), {
      ...{ version: { version: '1', program: await programFingerprint() }, executor: await inProcessExecutor() },
      ...{ sharedPath: null, lockMs: 60_000, idleMs: null, log: () => {} },
    });
    let stop = () => {};
    const ended = shards.run(new Promise((resolve) => (stop = resolve)));
    endWorker = async () => {
      stop();
      await ended;
      await shards.close();
    };
  });
  afterAll(async () => {
    await endWorker();
    await server.remove();
    rmSync(folder, { recursive: true });
  });

  const onQueue = (line: string) => twinyard(`${line} --executor ${server.url}`);
  const fetched = (id: string, flags = '') => twinyard(`experiment fetch ${id} --queue ${server.url} --wait ${flags}`);

  it.each([['plan', PLAN] as const, ['tune', TUNE] as const])(
    '%s prints the bytes of one thread, and they can be fetched in every format',
    async (name, line) => {
      const one = await twinyard(line);
      const queued = await onQueue(line);
      expect([queued.code, queued.stdout]).toEqual([0, one.stdout]);
      const [, id] = /'twinyard experiment fetch ([0-9a-f]+) --queue/.exec(queued.stderr)!;
      expect((await fetched(id!)).stdout).toBe(one.stdout);
      const [csv, html, table] = await Promise.all(
        ['csv', 'html', 'table'].map(async (format) => (await fetched(id!, `--format ${format}`)).stdout),
      );
      expect(csv!.split('\n')[0]).toMatch(/^[a-z_0-9]+(,[a-z_0-9]+)+$/);
      const cells = csv!.trim().split('\n').slice(1);
      expect(cells.length).toBeGreaterThan(1);
      expect(html).toMatch(/^<!doctype html>[\s\S]*<h1>[\s\S]*<svg[\s\S]*<\/html>\s*$/i);
      if (name === 'plan') expect(html).toMatch(/<\/h1>\s*<div class="picture"><svg[\s\S]*class="limit"/);
      // One file that works offline.
      expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
      expect(table).toContain(JSON.parse(one.stdout).verdict.split(' ')[0]);
      const status = JSON.parse((await twinyard(`experiment status ${id} --queue ${server.url} --format json`)).stdout);
      expect(status.experiments[0].done).toBe(status.experiments[0].total);
      expect((await twinyard(`experiment cancel ${id} --queue ${server.url}`)).code).toBe(0);
      expect((await fetched(id!)).code).toBe(2);
    },
  );

  it('compare prints the bytes of one thread, attached and detached', async () => {
    const one = await twinyard(COMPARE);
    expect((await onQueue(COMPARE)).stdout).toBe(one.stdout);
    const detached = await onQueue(`${COMPARE} --detach`);
    expect([detached.code, detached.stdout]).toEqual([0, expect.stringMatching(/^[0-9a-f]{12}\n$/)]);
    const id = detached.stdout.trim();
    expect((await fetched(id)).stdout).toBe(one.stdout);
    expect((await fetched(id, '--format csv')).stdout).toBe((await twinyard(`${COMPARE} --format csv`)).stdout);
    expect((await fetched(id, '--format html')).stdout).toBe((await twinyard(`${COMPARE} --format html`)).stdout);
  });

  it('reach a server over TLS with a password, and say what a certificate lacks', async () => {
    const tls = makeCertificate(folder, 'localhost');
    if (tls === null) return;
    const guarded = await RedisServer.start('tls-secret', false, tls);
    const status = (url: string, env: Record<string, string>) =>
      new Promise<{ stdout: string; stderr: string }>((resolve) => {
        const options = { env: { ...process.env, TWINYARD_QUEUE: url, ...env } };
        execFile(process.execPath, [CLI, 'experiment', 'status'], options, (_error, stdout, stderr) =>
          resolve({ stdout, stderr }),
        );
      });
    try {
      const trusted = { NODE_EXTRA_CA_CERTS: tls.cert };
      expect(await status(guarded.url, trusted)).toEqual({ stdout: 'No experiments.\n\nNo workers.\n', stderr: '' });
      const unknown = await status(guarded.url, {});
      expect(unknown.stderr).toMatch(
        /^twinyard: TWINYARD_QUEUE: cannot use rediss:.* certificate; .*NODE_EXTRA_CA_CERTS/,
      );
      expect(unknown.stderr).not.toContain('tls-secret');
    } finally {
      await guarded.remove();
    }
  });
});
