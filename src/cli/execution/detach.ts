import { createHash } from 'node:crypto';
import type { RunInputs } from '../../experiment/experiment.js';
import { ExperimentRecords } from '../../experiment/queue/experiment-records.js';
import { programVersion } from '../../experiment/queue/queue-keys.js';
import { connectRedis, shownUrl } from '../../experiment/queue/redis-connection.js';
import { ShardQueue } from '../../experiment/queue/shard-queue.js';
import type { RunCache } from '../../experiment/runs/run-cache.js';
import { programFingerprint } from '../../experiment/runs/run-key.js';
import { shardsOf } from '../../experiment/runs/shard.js';
import type { Diagnostics } from '../diagnostics.js';
import type { FlagValues } from '../flags/flag.js';
import type { CliIo } from '../io.js';
import type { ExecutionFlags } from './execution-flags.js';
import type { KeptExperiment } from './kept-experiment.js';
import { type ExperimentLabel, shardQueueOptions } from './open-executor.js';

/** Leaves an experiment on a queue and prints its id, for `experiment fetch`. */
export async function detach(
  runs: readonly RunInputs[],
  kept: KeptExperiment,
  label: ExperimentLabel,
  values: FlagValues<ExecutionFlags>['values'],
  cache: RunCache,
  io: CliIo,
  diagnostics: Diagnostics,
): Promise<void> {
  const url = values.executor!;
  const plan = JSON.stringify(kept);
  const redis = await connectRedis(url, '--executor', diagnostics.warn);
  try {
    const version = programVersion(await programFingerprint());
    const shards = await shardsOf(runs, true);
    const hashes = shards.map(({ hash }) => hash);
    // The same experiment has the same id: to detach it twice is to detach it once.
    const id = createHash('sha256').update(plan).update(hashes.join()).digest('hex').slice(0, 12);
    const queue = await ShardQueue.open(redis, shardQueueOptions(values, version.program));
    const known = await queue.results(hashes);
    const missing = new Map(shards.flatMap((shard, i) => (known[i] == null ? [[shard.hash, shard] as const] : [])));
    for (const [hash] of missing) {
      const cached = await cache.get(hash);
      if (cached === undefined) continue;
      await queue.offer(hash, cached);
      missing.delete(hash);
    }
    const record = { ...version, ...label, id, createdMs: Date.now(), isDetached: true, total: shards.length, done: 0 };
    await new ExperimentRecords(redis).putDetached(record, hashes, plan);
    await queue.retry([...missing.values()]);
    await queue.close();
    io.stdout.write(`${id}\n`);
    const where = shownUrl(url, '--executor');
    io.stderr.write(
      `twinyard: ${missing.size} of ${shards.length} runs are on the queue; print the result with 'twinyard experiment fetch ${id} --queue ${where} --wait'\n`,
    );
  } finally {
    redis.disconnect();
  }
}
