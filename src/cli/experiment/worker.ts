import { availableParallelism } from 'node:os';
import { createExecutor } from '../../experiment/runs/worker-pool.js';
import { summaryOf } from '../commands.js';
import { createDiagnostics } from '../diagnostics.js';
import { type QueueFlags, queueFlags, queueUrl, sharedPathFlag } from '../execution/execution-flags.js';
import type { CommandLine } from '../flags/command-line.js';
import { count, numberFlag } from '../flags/kinds.js';
import { outputFlags } from '../flags/output-flags.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { limitCompiler } from '../tune-v8.js';

const workerFlags = {
  ...queueFlags,
  threads: count({ default: null, min: 1, max: 1024, defaultText: 'as many as cores', help: 'runs at a time' }),
  'shared-path': sharedPathFlag,
  lock: numberFlag({
    default: 30,
    min: 1,
    max: 3600,
    placeholder: 's',
    help: 'seconds of silence after which the runs of a worker are given to another',
  }),
  'until-idle': numberFlag({
    default: null,
    min: 1,
    max: 1_000_000,
    placeholder: 's',
    defaultText: 'run until stopped',
    help: 'end after so many seconds without a run: for jobs of a cluster',
  }),
  log: outputFlags.log,
};

export const WORKER: CommandLine = {
  name: 'worker',
  summary: summaryOf('worker'),
  about:
    "Start it on as many machines as you like, with the version of the machine that runs 'sweep --executor redis://...'. A worker " +
    'that is killed or hangs loses nothing: its runs are given to others. Ctrl-C ends it after the runs it works on.',
  groups: [{ title: 'Worker', flags: workerFlags }],
  examples: [
    'worker --queue redis://127.0.0.1:6379',
    'worker --queue rediss://queue.example:6380 --threads 8 --until-idle 60',
  ],
};

/** Computes runs from a queue until it is stopped. */
export async function worker(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof workerFlags & QueueFlags>(WORKER, argv);
  const { url, place } = queueUrl(values.queue, io.env);
  const diagnostics = createDiagnostics(values.log, io);
  limitCompiler(Number.POSITIVE_INFINITY);
  const [{ connectRedis, shownUrl }, { programVersion, versionText }, { programFingerprint }, { ShardWorker }] =
    await Promise.all([
      import('../../experiment/queue/redis-connection.js'),
      import('../../experiment/queue/queue-keys.js'),
      import('../../experiment/runs/run-key.js'),
      import('../../experiment/queue/shard-worker.js'),
    ]);
  const redis = await connectRedis(url, place, diagnostics.warn);
  const version = programVersion(await programFingerprint());
  const executor = await createExecutor(values.threads ?? availableParallelism());
  const shards = new ShardWorker(redis, {
    version,
    executor,
    sharedPath: values['shared-path'],
    lockMs: values.lock * 1000,
    idleMs: values['until-idle'] === null ? null : values['until-idle'] * 1000,
    log: diagnostics.warn,
  });
  const say = (line: string) => io.stderr.write(`twinyard: ${line}\n`);
  say(`worker of version ${versionText(version)} takes runs from ${shownUrl(url, place)}, ${executor.width} at a time`);
  const stopped = io.untilStopped().then(() => {
    say('stopping after the runs in progress; Ctrl-C again stops at once');
  });
  try {
    await shards.run(stopped);
  } finally {
    await shards.close();
  }
  say(`worker stopped after ${shards.done} runs`);
  return 0;
}
