import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { RunExecutor } from '../../experiment/runs/executor.js';
import { createExecutor } from '../../experiment/runs/worker-pool.js';
import type { Diagnostics } from '../diagnostics.js';
import { conflictingFlags } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import type { CliIo } from '../io.js';
import { type DetachFlags, type ExecutionFlags, isQueue } from './execution-flags.js';
import type { KeptExperiment } from './kept-experiment.js';
import type { SignalCleanUps } from './signal-clean-ups.js';

type Values = FlagValues<ExecutionFlags>['values'];

/** What a queue shows about an experiment. */
export interface ExperimentLabel {
  title: string;
  command: string;
}

/** The executor of the flags. A signal leaves the queue clean; what was computed is cached. */
export async function openExecutor(
  { values, given }: FlagValues<ExecutionFlags>,
  label: ExperimentLabel,
  signals: SignalCleanUps,
  diagnostics: Diagnostics,
): Promise<RunExecutor> {
  if (!isQueue(values.executor)) {
    for (const name of ['shared-path', 'max-upload-mib'] as const) {
      if (given(name)) throw conflictingFlags(`--${name}`, 'given without a queue', 'add --executor redis://host:6379');
    }
    return createExecutor(values.workers ?? availableParallelism());
  }
  if (given('workers'))
    throw conflictingFlags('--workers', 'given with a queue, which has workers of its own', 'leave it out');
  const { connectRedis } = await import('../../experiment/queue/redis-connection.js');
  const [{ RedisExecutor }, { programVersion }, { programFingerprint }] = await Promise.all([
    import('../../experiment/queue/redis-executor.js'),
    import('../../experiment/queue/queue-keys.js'),
    import('../../experiment/runs/run-key.js'),
  ]);
  const redis = await connectRedis(values.executor, '--executor', diagnostics.warn);
  const version = programVersion(await programFingerprint());
  const id = randomBytes(4).toString('hex');
  const record = { ...version, ...label, id, createdMs: Date.now(), isDetached: false, total: 0, done: 0 };
  const executor = await RedisExecutor.open(
    redis,
    shardQueueOptions(values, version.program),
    record,
    diagnostics.warn,
  );
  signals.add(() => executor.close());
  return executor;
}

/** What a search found stays on its queue, for `experiment fetch`. */
export async function keepFound(
  executor: RunExecutor,
  found: KeptExperiment,
  url: string | null,
  io: CliIo,
): Promise<void> {
  if (executor.keep === undefined) return;
  const id = await executor.keep(JSON.stringify(found));
  const { shownUrl } = await import('../../experiment/queue/redis-connection.js');
  const queue = shownUrl(url!, '--executor');
  io.stderr.write(
    `twinyard: the result stays on the queue for a week: 'twinyard experiment fetch ${id} --queue ${queue}' prints it\n`,
  );
}

/** An executor that is opened when the first run is there. Threads start at once: they load their program meanwhile. */
export async function openWhenNeeded(
  flags: FlagValues<ExecutionFlags & DetachFlags>,
  label: ExperimentLabel,
  signals: SignalCleanUps,
  diagnostics: Diagnostics,
): Promise<{ executor(title?: string): Promise<RunExecutor>; close(): Promise<void> }> {
  const { values } = flags;
  if (values.detach && !isQueue(values.executor)) {
    throw conflictingFlags('--detach', 'given without a queue', 'add --executor redis://host:6379');
  }
  const open = (title: string) => openExecutor(flags, { ...label, title }, signals, diagnostics);
  let executor = isQueue(values.executor) ? null : await open(label.title);
  return {
    async executor(title = label.title) {
      executor ??= await open(title);
      return executor;
    },
    close: async () => executor?.close(),
  };
}

export function shardQueueOptions(
  values: Pick<Values, 'shared-path' | 'max-upload-mib'>,
  program: string,
): { program: string; sharedPath: string | null; mostInputBytes: number } {
  return { program, sharedPath: values['shared-path'], mostInputBytes: values['max-upload-mib'] * 2 ** 20 };
}
