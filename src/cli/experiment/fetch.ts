import { programVersion, versionText } from '../../experiment/queue/queue-keys.js';
import { shardError } from '../../experiment/queue/shard-error.js';
import { ShardQueue } from '../../experiment/queue/shard-queue.js';
import { programFingerprint } from '../../experiment/runs/run-key.js';
import { InputError, RunError } from '../../kernel/errors.js';
import { type QueueFlags, queueFlags, type ResultFlags, resultFlags } from '../execution/execution-flags.js';
import { type KeptExperiment, resultOf } from '../execution/kept-experiment.js';
import { printResult } from '../execution/print-result.js';
import { experimentSummaryOf } from '../experiment.js';
import type { CommandLine } from '../flags/command-line.js';
import { toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { checkOutputs } from '../output/output-files.js';
import { withQueue } from './with-queue.js';

const fetchFlags = {
  ...queueFlags,
  wait: toggle({ help: 'wait until all runs are done' }),
};

export const EXPERIMENT_FETCH: CommandLine = {
  name: 'experiment fetch',
  summary: experimentSummaryOf('fetch'),
  about:
    "Prints the result of a sweep or comparison that was started with --detach, or of a plan or tuning on a queue that has ended: the same bytes as without a queue. It stays there until 'experiment cancel', or for a week.",
  operands: { usage: 'ID', least: 1, most: 1 },
  groups: [
    { title: 'Queue', flags: fetchFlags },
    { title: 'Output', flags: resultFlags },
  ],
  examples: ['experiment fetch 3f2a91c04b7e --queue redis://127.0.0.1:6379 --wait --format table'],
};

const LOOK_MS = 1000;

/** Prints the result of a detached experiment. */
export async function experimentFetch(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof fetchFlags & QueueFlags & ResultFlags>(EXPERIMENT_FETCH, argv);
  checkOutputs(values.report === null ? [] : [{ flag: '--report', path: values.report }], []);
  const result = await withQueue(values.queue, io, async (records, redis) => {
    const record = await records.find(operands[0]!);
    const plan = record.isDetached ? await records.plan(record.id) : null;
    if (plan === null) {
      throw new InputError(
        'NOT_DETACHED',
        `experiment '${record.id}'`,
        'has not ended: its coordinator prints the result',
        'start a sweep or comparison with --detach to fetch it',
      );
    }
    const own = programVersion(await programFingerprint());
    if (own.program !== record.program) {
      const problem = `needs version ${versionText(record)}, this is ${versionText(own)}`;
      throw new InputError('OTHER_VERSION', `experiment '${record.id}'`, problem, 'use the version that started it');
    }
    for (let status = await records.status(record); ; status = await records.status(record)) {
      if (status.failed.length > 0) throw shardError(status.failed[0]!.hash, status.failed[0]!.reason);
      if (status.done === status.total) break;
      if (!values.wait) {
        throw new RunError(
          'NOT_DONE',
          `experiment ${record.id}: ${status.done} of ${status.total} runs are done; add --wait, or try again later`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    const queue = await ShardQueue.open(redis, { program: record.program, sharedPath: null, mostInputBytes: 0 });
    const results = await queue.results(await records.hashes(record.id));
    await queue.close();
    return resultOf(
      JSON.parse(plan) as KeptExperiment,
      results.map((bytes) => bytes!),
    );
  });
  await printResult(result, values, io);
  return 0;
}
