import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { link, mkdir } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { InputError } from '../../kernel/errors.js';
import type { RunInputs } from '../experiment.js';
import type { RunExecutor } from '../runs/executor.js';
import { runKeys } from '../runs/run-key.js';
import { plainError } from '../runs/worker-message.js';
import { ExperimentRecords, type WorkerRecord } from './experiment-records.js';
import { InputStore } from './input-store.js';
import { type PackedInputs, type PackedPath, packedHash, type ShardJob, withPaths } from './packed-inputs.js';
import { KEEP_S, NAMESPACE, type ProgramVersion, queueName, resultKey, versionText } from './queue-keys.js';
import { shardError } from './shard-error.js';

/** How often a worker says that it is there. */
const PRESENT_MS = 15_000;
/** A shard is given to another worker so often before it counts as failed. */
const MOST_STALLED = 3;
const PLACE = /^(?:header|data|model|gpu)(?:\/[^/\0]+){1,2}$/;

export interface ShardWorkerOptions {
  version: ProgramVersion;
  /** Threads that simulate: the thread of the worker itself only renews locks. */
  executor: RunExecutor;
  sharedPath: string | null;
  /** A shard whose worker is silent for this long is given to another. */
  lockMs: number;
  /** Ends after this long without a shard; null: never. */
  idleMs: number | null;
  log: (line: string) => void;
}

/** Computes shards from a queue until it is stopped. */
export class ShardWorker {
  readonly #redis: Redis;
  readonly #options: ShardWorkerOptions;
  readonly #records: ExperimentRecords;
  readonly #record: WorkerRecord;
  readonly #inputs: InputStore;
  readonly #folder = mkdtempSync(join(tmpdir(), 'twinyard-worker-'));
  readonly #unpacked = new Map<string, Promise<(seed: number) => RunInputs>>();
  readonly #placed = new Map<string, Promise<void>>();
  /** That of the queue, which does not close what it is given. */
  readonly #connection: Redis;
  #worker: Worker | null = null;
  #timer: NodeJS.Timeout | null = null;
  #done = 0;

  constructor(redis: Redis, options: ShardWorkerOptions) {
    this.#redis = redis;
    this.#connection = redis.duplicate();
    this.#options = options;
    this.#records = new ExperimentRecords(redis);
    this.#inputs = new InputStore(redis);
    this.#record = {
      ...options.version,
      id: randomUUID().slice(0, 8),
      host: hostname(),
      threads: options.executor.width,
    };
  }

  /** Shards computed so far. */
  get done(): number {
    return this.#done;
  }

  /** Rejects when the queue only has experiments of other versions: waiting would be for nothing. */
  async run(stopped: Promise<void>): Promise<void> {
    await this.#checkVersion();
    const { Worker: Client } = await import('bullmq');
    this.#connection.on('error', () => {});
    const { executor, lockMs, log, version } = this.#options;
    const worker = new Client(queueName(version.program), (job: Job<ShardJob>) => this.#process(job), {
      connection: this.#connection,
      prefix: NAMESPACE,
      concurrency: executor.width,
      lockDuration: lockMs,
      stalledInterval: lockMs,
      maxStalledCount: MOST_STALLED,
    });
    this.#worker = worker;
    // A lock that was lost to another worker, or a server that is away: the work goes on.
    worker.on('error', () => {});
    worker.on('failed', (job, error) => {
      const hash = job?.id ?? '';
      log(`shard ${hash.slice(0, 12)} failed: ${shardError(hash, error.message).message}`);
    });
    let refuse: (error: Error) => void = () => {};
    const refused = new Promise<never>((_, reject) => {
      refuse = reject;
    });
    const present = async () => {
      try {
        await this.#records.putWorker(this.#record, Date.now());
        await this.#checkVersion();
      } catch (error) {
        if (error instanceof InputError) refuse(error);
      }
    };
    await present();
    this.#timer = setInterval(present, Math.min(PRESENT_MS, lockMs));
    await Promise.race([stopped, refused, this.#idle(worker)]);
  }

  /** Resolves when there was no shard for long enough. */
  #idle(worker: Worker): Promise<void> {
    const { idleMs } = this.#options;
    return new Promise((resolve) => {
      if (idleMs === null) return;
      let timer: NodeJS.Timeout;
      let active = 0;
      const rest = () => {
        timer = setTimeout(resolve, idleMs);
      };
      worker.on('active', () => {
        active++;
        clearTimeout(timer);
      });
      const ended = () => {
        if (--active === 0) rest();
      };
      worker.on('completed', ended);
      worker.on('failed', ended);
      rest();
    });
  }

  /** Ends after the runs that it works on. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    // Without a server results cannot be handed over, and no command ends.
    const isAway = this.#redis.status !== 'ready';
    await this.#worker?.close(isAway);
    if (!isAway) await this.#records.removeWorker(this.#record).catch(() => {});
    await this.#options.executor.close();
    this.#connection.disconnect();
    this.#redis.disconnect();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #checkVersion(): Promise<void> {
    const { version } = this.#options;
    const records = await this.#records.list();
    const other = records.find(({ program }) => program !== version.program);
    if (other === undefined || records.some(({ program }) => program === version.program)) return;
    const problem = `this worker is version ${versionText(version)}, the experiment '${other.id}' on the queue needs ${versionText(other)}`;
    throw new InputError('OTHER_VERSION', '--queue', problem, 'install the same version on all machines');
  }

  async #process({ data }: Job<ShardJob>): Promise<void> {
    try {
      if ((await this.#redis.exists(resultKey(data.hash))) === 1) return;
      const inputs = (await this.#unpack(data.inputs))(data.seed);
      const [hash] = runKeys([inputs], this.#options.version.program);
      if (hash !== data.hash) {
        throw new InputError(
          'OTHER_INPUTS',
          `shard ${data.hash.slice(0, 12)}`,
          'its inputs here are not those it was planned with',
          'use the same files on all machines',
        );
      }
      const result = await this.#options.executor.run({ hash: data.hash, inputs });
      // The first result stays: a worker that was stopped and comes back late changes nothing.
      await this.#redis.set(resultKey(data.hash), result, 'EX', KEEP_S, 'NX');
      this.#done++;
    } catch (error) {
      const plain = plainError(error);
      const text = JSON.stringify(plain);
      const { UnrecoverableError } = await import('bullmq');
      // Wrong input stays wrong; a thread that ran out of memory may have been unlucky.
      throw plain.kind === 'input' ? new UnrecoverableError(text) : new Error(text);
    }
  }

  /** Once for all seeds of a point, and kept: the path of a trace must not change for its parsed form to be used again. */
  #unpack(hash: string): Promise<(seed: number) => RunInputs> {
    const known = this.#unpacked.get(hash) ?? this.#readInputs(hash);
    this.#unpacked.set(hash, known);
    known.catch(() => this.#unpacked.delete(hash));
    if (this.#unpacked.size > 1000) this.#unpacked.delete(this.#unpacked.keys().next().value!);
    return known;
  }

  async #readInputs(hash: string): Promise<(seed: number) => RunInputs> {
    const packed = JSON.parse(await this.#inputs.getText(hash)) as PackedInputs;
    if (packedHash(packed).hash !== hash) throw new Error(`input ${hash} is damaged in the queue`);
    const places = new Map<PackedPath['use'], string>();
    for (const path of packed.paths) places.set(path.use, await this.#place(path));
    return (seed) => withPaths(packed.inputs, seed, (use) => places.get(use)!);
  }

  async #place({ at, files, isShared, use }: PackedPath): Promise<string> {
    if (isShared) {
      if (this.#options.sharedPath === null || at.split('/').includes('..')) {
        throw new InputError(
          'NO_SHARED_PATH',
          at,
          'is in a folder that workers share',
          'start the worker with --shared-path <folder>',
        );
      }
      return join(this.#options.sharedPath, at);
    }
    for (const one of [at, ...files.map((file) => file.at)]) {
      if (!PLACE.test(one) || one.split('/').includes('..') || !one.startsWith(`${use}/`))
        throw new Error('a place of an input is not valid');
    }
    const folder = join(this.#folder, packedHash({ paths: files } as never).hash.slice(0, 16));
    for (const file of files) {
      if (!/^[0-9a-f]{64}$/.test(file.sha256)) throw new Error('the hash of an input is not valid');
      const content = join(this.#folder, 'content', file.sha256);
      const target = join(folder, file.at);
      await this.#once(content, () => this.#inputs.getFile(file, content));
      await this.#once(target, async () => {
        await mkdir(dirname(target), { recursive: true });
        await link(content, target);
      });
    }
    return join(folder, at);
  }

  #once(path: string, work: () => Promise<void>): Promise<void> {
    const known = this.#placed.get(path) ?? work();
    this.#placed.set(path, known);
    known.catch(() => this.#placed.delete(path));
    return known;
  }
}
