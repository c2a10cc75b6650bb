import type { Redis } from 'ioredis';
import { ExperimentRecords } from '../../experiment/queue/experiment-records.js';
import { connectRedis } from '../../experiment/queue/redis-connection.js';
import { queueUrl } from '../execution/execution-flags.js';
import type { CliIo } from '../io.js';

/** Connects to the queue of the flags for the time of some work. */
export async function withQueue<T>(
  queue: string | null,
  io: CliIo,
  work: (records: ExperimentRecords, redis: Redis) => Promise<T>,
): Promise<T> {
  const { url, place } = queueUrl(queue, io.env);
  const redis = await connectRedis(url, place, (line) => io.stderr.write(`twinyard: ${line}\n`));
  try {
    return await work(new ExperimentRecords(redis), redis);
  } finally {
    redis.disconnect();
  }
}
