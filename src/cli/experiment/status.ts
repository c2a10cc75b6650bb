import type { ExperimentStatus, WorkerRecord } from '../../experiment/queue/experiment-records.js';
import { versionText } from '../../experiment/queue/queue-keys.js';
import { shardError } from '../../experiment/queue/shard-error.js';
import { documentJson } from '../../report/text/document-json.js';
import { createStyle } from '../../report/text/style.js';
import { type QueueFlags, queueFlags } from '../execution/execution-flags.js';
import { experimentSummaryOf } from '../experiment.js';
import type { CommandLine } from '../flags/command-line.js';
import { choiceFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, listPresentation } from '../io.js';
import { withQueue } from './with-queue.js';

const statusFlags = {
  ...queueFlags,
  format: choiceFlag({ default: 'table', known: ['table', 'json'], help: 'how the result is printed' }),
};

export const EXPERIMENT_STATUS: CommandLine = {
  name: 'experiment status',
  summary: experimentSummaryOf('status'),
  about: 'Lists experiments with how many of their runs are done and which failed, and the workers that are there.',
  operands: { usage: '[ID]', least: 0, most: 1 },
  groups: [{ title: 'Queue', flags: statusFlags }],
  examples: ['experiment status --queue redis://127.0.0.1:6379'],
};

/** Prints how far experiments are. */
export async function experimentStatus(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof statusFlags & QueueFlags>(EXPERIMENT_STATUS, argv);
  const { experiments, workers } = await withQueue(values.queue, io, async (records) => {
    const listed = operands[0] === undefined ? await records.list() : [await records.find(operands[0])];
    const all = [];
    for (const record of listed) all.push(await records.status(record));
    return { experiments: all, workers: await records.workers(Date.now()) };
  });
  io.stdout.write(
    values.format === 'json' ? documentJson(documentOf(experiments, workers)) : table(experiments, workers, io),
  );
  return 0;
}

function documentOf(experiments: readonly ExperimentStatus[], workers: readonly WorkerRecord[]): object {
  return {
    experiments: experiments.map(
      ({ command, createdMs, done, failed, id, isDetached, title, total, version, program }) => ({
        ...{ id, title, command, created: new Date(createdMs).toISOString(), detached: isDetached, done, total },
        failed: failed.map(({ hash, reason }) => ({ shard: hash, error: shardError(hash, reason).message })),
        version: versionText({ version, program }),
      }),
    ),
    workers: workers.map(({ host, id, program, threads, version }) => ({
      id,
      host,
      threads,
      version: versionText({ version, program }),
    })),
  };
}

function table(experiments: readonly ExperimentStatus[], workers: readonly WorkerRecord[], io: CliIo): string {
  const style = createStyle(listPresentation(io));
  const rows = experiments.map(({ createdMs, done, failed, id, isDetached, program, title, total, version }) => [
    id,
    title,
    `${done} of ${total}`,
    String(failed.length),
    isDetached ? 'detached' : 'attached',
    new Date(createdMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    versionText({ version, program }),
  ]);
  const head = ['ID', 'EXPERIMENT', 'RUNS', 'FAILED', 'MODE', 'CREATED', 'VERSION'];
  const people = workers.map(({ host, id, program, threads, version }) => [
    id,
    host,
    String(threads),
    versionText({ version, program }),
  ]);
  const lines = [
    ...(rows.length === 0
      ? ['No experiments.']
      : style.table(
          [head, ...rows],
          head.map(() => 'left' as const),
        )),
    ...experiments.flatMap(({ failed }) =>
      failed.slice(0, 5).map(({ hash, reason }) => `  ${shardError(hash, reason).message}`),
    ),
    '',
    ...(people.length === 0
      ? ['No workers.']
      : style.table([['WORKER', 'HOST', 'THREADS', 'VERSION'], ...people], ['left', 'left', 'left', 'left'])),
  ];
  return `${lines.join('\n')}\n`;
}
