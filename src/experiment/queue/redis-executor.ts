import type { QueueEvents } from 'bullmq';
import type { Redis } from 'ioredis';
import type { RunExecutor } from '../runs/executor.js';
import type { Shard } from '../runs/shard.js';
import { type ExperimentRecord, ExperimentRecords } from './experiment-records.js';
import { NAMESPACE, queueName } from './queue-keys.js';
import { type ConnectionReport, redisRefused } from './redis-connection.js';
import { shardError } from './shard-error.js';
import { ShardQueue, type ShardQueueOptions } from './shard-queue.js';

/** How often the state of the queue is compared with what is awaited: events may be lost with the connection. */
const RECONCILE_MS = 5000;

interface Awaited {
  shard: Shard;
  done(result: string): void;
  failed(error: Error): void;
}

/**
 * Lets workers on other machines compute shards. Nothing depends on an event: what the queue or the server loses is submitted
 * again, and a result that comes twice is the same bytes.
 */
export class RedisExecutor implements RunExecutor {
  /** As many as wait on the queue: enough for any number of workers. */
  readonly width = 4000;
  readonly isShared = true;
  readonly #awaited = new Map<string, Awaited>();
  readonly #record: ExperimentRecord;
  readonly #records: ExperimentRecords;
  readonly #queue: ShardQueue;
  readonly #events: QueueEvents;
  readonly #redis: Redis;
  /** That of the events, which waits on the server. */
  readonly #connection: Redis;
  readonly #report: ConnectionReport;
  readonly #timer: NodeJS.Timeout;
  #toSubmit: Shard[] = [];
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;
  #isKept = false;
  #workers = -1;
  #turns = 0;

  private constructor(
    redis: Redis,
    connection: Redis,
    queue: ShardQueue,
    events: QueueEvents,
    record: ExperimentRecord,
    report: ConnectionReport,
    reconcileMs: number,
  ) {
    this.#redis = redis;
    this.#connection = connection;
    this.#queue = queue;
    this.#events = events;
    this.#record = record;
    this.#records = new ExperimentRecords(redis);
    this.#report = report;
    events.on('completed', ({ jobId }) => this.#collect(jobId));
    events.on('failed', ({ jobId, failedReason }) => this.#fail(jobId, failedReason));
    events.on('error', () => {});
    redis.on('ready', () => this.#enqueue(() => this.#reconcile()));
    this.#timer = setInterval(() => this.#enqueue(() => this.#reconcile()), reconcileMs);
  }

  /** @param redis is closed with the executor */
  static async open(
    redis: Redis,
    options: ShardQueueOptions,
    record: ExperimentRecord,
    report: ConnectionReport,
    reconcileMs = RECONCILE_MS,
  ): Promise<RedisExecutor> {
    const { QueueEvents: Events } = await import('bullmq');
    const queue = await ShardQueue.open(redis, options);
    const connection = redis.duplicate();
    connection.on('error', () => {});
    const events = new Events(queueName(options.program), { connection, prefix: NAMESPACE });
    await events.waitUntilReady();
    const executor = new RedisExecutor(redis, connection, queue, events, record, report, reconcileMs);
    await executor.#records.put(record);
    return executor;
  }

  run(shard: Shard): Promise<string> {
    return new Promise((done, failed) => {
      this.#awaited.set(shard.hash, { shard, done, failed });
      this.#toSubmit.push(shard);
      if (this.#toSubmit.length === 1) setImmediate(() => this.#enqueue(() => this.#submit()));
    });
  }

  /** Progress besides the number of runs. */
  get status(): string {
    return this.#workers < 0 ? '' : `${this.#workers} worker${this.#workers === 1 ? '' : 's'}`;
  }

  /** How many runs there are, for `experiment status`. */
  update(done: number, total: number): void {
    this.#record.done = done;
    this.#record.total = total;
  }

  async keep(found: string): Promise<string> {
    await this.#records.putDetached({ ...this.#record, isDetached: true }, [], found);
    this.#isKept = true;
    return this.#record.id;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    // Not for ever: the server may be away, and what it holds expires.
    const clean = this.#leaveClean().catch(() => {});
    await Promise.race([clean, new Promise((resolve) => setTimeout(resolve, 3000).unref())]);
    this.#connection.disconnect();
    this.#redis.disconnect();
    void this.#events.close().catch(() => {});
  }

  async #leaveClean(): Promise<void> {
    await this.#queue.withdraw([...this.#awaited.keys()]);
    this.#awaited.clear();
    if (!this.#isKept) await this.#records.remove(this.#record.id);
    await this.#queue.close();
  }

  /** One after the other: a reconciliation does not overtake what is being submitted. */
  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (this.#isClosed) return;
      try {
        await work();
      } catch (error) {
        // A command that the server refused, or inputs that cannot be read: no shard can be computed.
        const shown = error instanceof Error && error.name === 'ReplyError' ? redisRefused(error) : (error as Error);
        for (const [hash, { failed }] of this.#awaited) {
          this.#awaited.delete(hash);
          failed(shown);
        }
      }
    });
  }

  async #submit(): Promise<void> {
    const shards = this.#toSubmit;
    this.#toSubmit = [];
    await this.#queue.retry(await this.#settle(shards));
  }

  /** Hands over the results that are there. Returns the other shards. */
  async #settle(shards: readonly Shard[]): Promise<Shard[]> {
    const results = await this.#queue.results(shards.map(({ hash }) => hash));
    return shards.filter(({ hash }, i) => {
      const result = results[i];
      if (result == null) return true;
      const awaited = this.#awaited.get(hash);
      this.#awaited.delete(hash);
      awaited?.done(result);
      return false;
    });
  }

  #collect(hash: string): void {
    const awaited = this.#awaited.get(hash);
    if (awaited === undefined) return;
    void this.#settle([awaited.shard]).catch(() => {});
  }

  #fail(hash: string, reason: string): void {
    const awaited = this.#awaited.get(hash);
    this.#awaited.delete(hash);
    awaited?.failed(shardError(hash, reason));
  }

  async #reconcile(): Promise<void> {
    if (!this.#isKept) await this.#records.put(this.#record);
    await this.#countWorkers();
    const waiting = [...this.#awaited.values()]
      .map(({ shard }) => shard)
      .filter((shard) => !this.#toSubmit.includes(shard));
    const without = await this.#settle(waiting);
    const { failed, missing } = await this.#queue.states(without.map(({ hash }) => hash));
    for (const { hash, reason } of failed) this.#fail(hash, reason);
    if (missing.length === 0) return;
    // Between two looks a worker may have finished them; else the server has lost them, and their inputs.
    const lost = await this.#settle(without.filter(({ hash }) => missing.includes(hash)));
    if (lost.length === 0) return;
    this.#queue.forgetInputs();
    await this.#queue.submit(lost);
  }

  async #countWorkers(): Promise<void> {
    const all = await this.#records.workers(Date.now());
    const own = all.filter(({ program }) => program === this.#record.program);
    if (own.length === 0 && this.#turns === 0) {
      const others = all.length === 0 ? '' : `; ${all.length} of another version cannot help`;
      this.#report(`no worker yet: start 'twinyard worker --queue <url>' of this version on any machine${others}`);
    }
    this.#turns++;
    this.#workers = own.length;
  }
}
