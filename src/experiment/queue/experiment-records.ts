import type { Redis } from 'ioredis';
import { InputError } from '../../kernel/errors.js';
import {
  EXPERIMENTS_KEY,
  experimentKey,
  jobKey,
  KEEP_S,
  PRESENT_S,
  type ProgramVersion,
  queueKeys,
  resultKey,
  shardsKey,
  WORKERS_KEY,
} from './queue-keys.js';

/** An experiment on a queue, as its coordinator or `--detach` registered it. */
export interface ExperimentRecord extends ProgramVersion {
  id: string;
  title: string;
  command: string;
  /** Milliseconds since 1970. */
  createdMs: number;
  /** Without a coordinator: its shards and plan are on the server. */
  isDetached: boolean;
  total: number;
  done: number;
}

export interface WorkerRecord extends ProgramVersion {
  id: string;
  host: string;
  threads: number;
}

/** How far an experiment is. */
export interface ExperimentStatus extends ExperimentRecord {
  failed: readonly { hash: string; reason: string }[];
}

const AT_ONCE = 1000;

/** The experiments and workers of a server. Entries of processes that are gone expire. */
export class ExperimentRecords {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async put(record: ExperimentRecord): Promise<void> {
    const keep = record.isDetached ? KEEP_S : PRESENT_S;
    await this.#redis
      .pipeline()
      .set(experimentKey(record.id), JSON.stringify(record), 'EX', keep)
      .sadd(EXPERIMENTS_KEY, record.id)
      .expire(EXPERIMENTS_KEY, KEEP_S)
      .exec();
  }

  /** What a coordinator would keep: the shards in their order, and the plan that turns results into a document. */
  async putDetached(record: ExperimentRecord, hashes: readonly string[], plan: string): Promise<void> {
    const key = shardsKey(record.id);
    const pipeline = this.#redis.pipeline().del(key);
    for (let from = 0; from < hashes.length; from += AT_ONCE)
      pipeline.rpush(key, ...hashes.slice(from, from + AT_ONCE));
    pipeline.expire(key, KEEP_S).set(`${experimentKey(record.id)}:plan`, plan, 'EX', KEEP_S);
    await pipeline.exec();
    await this.put(record);
  }

  async list(): Promise<ExperimentRecord[]> {
    const ids = await this.#redis.smembers(EXPERIMENTS_KEY);
    if (ids.length === 0) return [];
    const texts = await this.#redis.mget(ids.map(experimentKey));
    const gone = ids.filter((_, i) => texts[i] === null);
    if (gone.length > 0) await this.#redis.srem(EXPERIMENTS_KEY, ...gone);
    const records = texts.flatMap((text) => (text == null ? [] : [JSON.parse(text) as ExperimentRecord]));
    return records.sort((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1));
  }

  async find(id: string): Promise<ExperimentRecord> {
    const records = await this.list();
    const found = records.filter((record) => record.id.startsWith(id));
    if (found.length === 1) return found[0]!;
    const known = records.map((record) => record.id).join(', ');
    const hint = known === '' ? 'there are none on this server' : `known: ${known}`;
    throw new InputError(
      'UNKNOWN_EXPERIMENT',
      `experiment '${id}'`,
      found.length > 1 ? 'is not unique' : 'does not exist',
      hint,
    );
  }

  async status(record: ExperimentRecord): Promise<ExperimentStatus> {
    if (!record.isDetached) return { ...record, failed: [] };
    const hashes = await this.hashes(record.id);
    // What a coordinator found is kept without its shards.
    if (hashes.length === 0) return { ...record, failed: [] };
    let done = 0;
    const failed: { hash: string; reason: string }[] = [];
    for (let from = 0; from < hashes.length; from += AT_ONCE) {
      const some = hashes.slice(from, from + AT_ONCE);
      const pipeline = this.#redis.pipeline();
      for (const hash of some) {
        pipeline.exists(resultKey(hash));
        pipeline.hmget(jobKey(record.program, hash), 'failedReason', 'finishedOn');
      }
      const replies = (await pipeline.exec()) ?? [];
      for (const [i, hash] of some.entries()) {
        if (replies[2 * i]![1] === 1) done++;
        const [reason, finished] = (replies[2 * i + 1]![1] ?? []) as (string | null)[];
        if (reason && finished) failed.push({ hash, reason });
      }
    }
    return { ...record, done, failed };
  }

  hashes(id: string): Promise<string[]> {
    return this.#redis.lrange(shardsKey(id), 0, -1);
  }

  plan(id: string): Promise<string | null> {
    return this.#redis.get(`${experimentKey(id)}:plan`);
  }

  async remove(id: string): Promise<void> {
    await this.#redis
      .pipeline()
      .srem(EXPERIMENTS_KEY, id)
      .del(experimentKey(id), shardsKey(id), `${experimentKey(id)}:plan`)
      .exec();
  }

  /** Registers a worker, or says that it is still there, and renews the keys of its queue. */
  async putWorker(worker: WorkerRecord, nowMs: number): Promise<void> {
    const pipeline = this.#redis
      .pipeline()
      .zadd(WORKERS_KEY, nowMs, JSON.stringify(worker))
      .zremrangebyscore(WORKERS_KEY, 0, nowMs - PRESENT_S * 1000)
      .expire(WORKERS_KEY, PRESENT_S);
    for (const key of queueKeys(worker.program)) pipeline.expire(key, KEEP_S);
    await pipeline.exec();
  }

  async removeWorker(worker: WorkerRecord): Promise<void> {
    await this.#redis.zrem(WORKERS_KEY, JSON.stringify(worker));
  }

  async workers(nowMs: number): Promise<WorkerRecord[]> {
    const texts = await this.#redis.zrangebyscore(WORKERS_KEY, nowMs - PRESENT_S * 1000, '+inf');
    return texts.map((text) => JSON.parse(text) as WorkerRecord);
  }
}
