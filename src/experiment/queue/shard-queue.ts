import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Shard } from '../runs/shard.js';
import { InputStore } from './input-store.js';
import { type LocalFile, packedHash, packInputs, type ShardJob } from './packed-inputs.js';
import { jobKey, KEEP_S, NAMESPACE, queueKeys, queueName, resultKey } from './queue-keys.js';

/** Tries of a shard whose worker fails, with a growing pause between them. */
const ATTEMPTS = 3;
const BACK_OFF_MS = 1000;
const AT_ONCE = 500;

export interface ShardQueueOptions {
  /** `programFingerprint`. */
  program: string;
  sharedPath: string | null;
  mostInputBytes: number;
  /** The first pause before a shard is tried again; each later one is twice as long. */
  backOffMs?: number;
}

/** Shards on a server: submitted once each, by their hash, with their inputs. */
export class ShardQueue {
  readonly queue: Queue;
  readonly #redis: Redis;
  readonly #options: ShardQueueOptions;
  readonly #inputs: InputStore;
  readonly #hashed = new Map<string, Promise<LocalFile>>();

  private constructor(queue: Queue, redis: Redis, options: ShardQueueOptions) {
    this.queue = queue;
    this.#redis = redis;
    this.#options = options;
    this.#inputs = new InputStore(redis);
  }

  static async open(redis: Redis, options: ShardQueueOptions): Promise<ShardQueue> {
    const { Queue: Client } = await import('bullmq');
    const queue = new Client(queueName(options.program), { connection: redis, prefix: NAMESPACE });
    // Reported by the connection itself.
    queue.on('error', () => {});
    await queue.waitUntilReady();
    return new ShardQueue(queue, redis, options);
  }

  /** Puts shards and their inputs on the queue. A shard that waits there already, from any coordinator, stays. */
  async submit(shards: readonly Shard[]): Promise<void> {
    for (let from = 0; from < shards.length; from += AT_ONCE) {
      const some = shards.slice(from, from + AT_ONCE);
      const jobs: ShardJob[] = [];
      for (const shard of some) jobs.push(await this.#job(shard));
      const options = {
        attempts: ATTEMPTS,
        backoff: { type: 'exponential', delay: this.#options.backOffMs ?? BACK_OFF_MS },
        // Results are kept under their own keys.
        removeOnComplete: true,
        removeOnFail: { age: KEEP_S },
      };
      await this.queue.addBulk(jobs.map((data) => ({ name: 'shard', data, opts: { ...options, jobId: data.hash } })));
      const pipeline = this.#redis.pipeline();
      for (const { hash } of jobs) pipeline.expire(jobKey(this.#options.program, hash), KEEP_S);
      for (const key of queueKeys(this.#options.program)) pipeline.expire(key, KEEP_S);
      await pipeline.exec();
    }
  }

  /** Submits shards again, also those that failed before. */
  async retry(shards: readonly Shard[]): Promise<void> {
    const { failed } = await this.states(shards.map(({ hash }) => hash));
    await this.withdraw(failed.map(({ hash }) => hash));
    await this.submit(shards);
  }

  /** Keeps a result that was computed elsewhere. */
  async offer(hash: string, result: string): Promise<void> {
    await this.#redis.set(resultKey(hash), result, 'EX', KEEP_S, 'NX');
  }

  /** The results that are there, in the order of the hashes; null for others. */
  async results(hashes: readonly string[]): Promise<(string | null)[]> {
    const all: (string | null)[] = [];
    for (let from = 0; from < hashes.length; from += AT_ONCE) {
      all.push(...(await this.#redis.mget(hashes.slice(from, from + AT_ONCE).map(resultKey))));
    }
    return all;
  }

  /** Of shards without a result: those that are not on the queue, and those that failed, with the reason. */
  async states(hashes: readonly string[]): Promise<{ missing: string[]; failed: { hash: string; reason: string }[] }> {
    const pipeline = this.#redis.pipeline();
    for (const hash of hashes) {
      const key = jobKey(this.#options.program, hash);
      pipeline.exists(key);
      pipeline.zscore(`${NAMESPACE}:${queueName(this.#options.program)}:failed`, hash);
      pipeline.hget(key, 'failedReason');
    }
    const replies = (await pipeline.exec()) ?? [];
    const missing: string[] = [];
    const failed: { hash: string; reason: string }[] = [];
    for (const [i, hash] of hashes.entries()) {
      const [exists, score, reason] = [0, 1, 2].map((at) => replies[3 * i + at]?.[1]);
      if (exists === 0) missing.push(hash);
      else if (score !== null) failed.push({ hash, reason: String(reason ?? '') });
    }
    return { missing, failed };
  }

  /** Takes shards off the queue, but for those that a worker computes. */
  async withdraw(hashes: readonly string[]): Promise<void> {
    for (let from = 0; from < hashes.length; from += AT_ONCE) {
      await Promise.all(hashes.slice(from, from + AT_ONCE).map((hash) => this.queue.remove(hash)));
    }
  }

  /** Inputs are sent again: the server has lost what it had. */
  forgetInputs(): void {
    this.#inputs.forget();
  }

  async close(): Promise<void> {
    await this.queue.close();
  }

  async #job({ hash, inputs }: Shard): Promise<ShardJob> {
    const { files, packed } = await packInputs(inputs, this.#options.sharedPath, this.#hashed);
    for (const file of files) await this.#inputs.putFile(file, this.#options.mostInputBytes);
    const { hash: sent, text } = packedHash(packed);
    await this.#inputs.putText(sent, text);
    return { hash, inputs: sent, seed: inputs.config.seed };
  }
}
