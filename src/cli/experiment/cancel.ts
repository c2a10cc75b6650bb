import { type QueueFlags, queueFlags } from '../execution/execution-flags.js';
import { experimentSummaryOf } from '../experiment.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { withQueue } from './with-queue.js';

export const EXPERIMENT_CANCEL: CommandLine = {
  name: 'experiment cancel',
  summary: experimentSummaryOf('cancel'),
  about:
    'Removes the runs that wait; those that a worker computes end by themselves. Results that are there stay for a week.',
  operands: { usage: 'ID', least: 1, most: 1 },
  groups: [{ title: 'Queue', flags: queueFlags }],
  examples: ['experiment cancel 3f2a91c04b7e --queue redis://127.0.0.1:6379'],
};

/** Takes an experiment off a queue. */
export async function experimentCancel(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<QueueFlags>(EXPERIMENT_CANCEL, argv);
  await withQueue(values.queue, io, async (records, redis) => {
    const record = await records.find(operands[0]!);
    const { ShardQueue } = await import('../../experiment/queue/shard-queue.js');
    const options = { program: record.program, sharedPath: null, mostInputBytes: 0 };
    const queue = await ShardQueue.open(redis, options);
    await queue.withdraw(await records.hashes(record.id));
    await records.remove(record.id);
    await queue.close();
    io.stdout.write(`experiment ${record.id} cancelled\n`);
  });
  return 0;
}
