import type { ReplicaHandle, Runner } from '../../control/runner/contract.js';
import type { InputError } from '../../kernel/errors.js';
import { Channel } from './channel.js';

export interface LogLine {
  readonly replica: string;
  readonly line: string;
}

export interface LogsWanted {
  /** Of one replica only. */
  readonly replica: string | null;
  /** How many lines of each, of those there are. */
  readonly lines: number;
  readonly follow: boolean;
  readonly signal: AbortSignal;
  /** Called when all followed logs have ended: whether there may be more. */
  goesOn(): Promise<boolean>;
}

type Logs = Pick<Runner, 'logs' | 'watch'>;

/**
 * What replicas have written: one after the other, or, followed, as it comes, with that of replicas that start
 * meanwhile.
 */
export async function* endpointLogs(
  runner: Logs,
  replicas: readonly ReplicaHandle[],
  isOurs: (replica: ReplicaHandle) => boolean,
  wanted: LogsWanted,
): AsyncGenerator<LogLine> {
  if (wanted.follow) yield* followed(runner, replicas, isOurs, wanted);
  else for (const { id } of replicas) yield* linesOf(runner, id, { lines: wanted.lines });
}

async function* followed(
  runner: Logs,
  replicas: readonly ReplicaHandle[],
  isOurs: (replica: ReplicaHandle) => boolean,
  { goesOn, lines, replica: only, signal }: LogsWanted,
): AsyncGenerator<LogLine> {
  const leaving = new AbortController();
  const ended = AbortSignal.any([signal, leaving.signal]);
  const heard = new Channel<LogLine>();
  const known = new Set<string>();
  let open = 0;
  const begin = async (id: string, options: { lines?: number }) => {
    if (known.has(id)) return;
    known.add(id);
    open++;
    try {
      for await (const line of linesOf(runner, id, { ...options, follow: true, signal: ended })) await heard.put(line);
      open--;
      if (open === 0 && (only !== null || !(await goesOn())) && open === 0) heard.end();
    } catch (error) {
      heard.fail(error);
    }
  };
  const stop = runner.watch(({ replica, type }) => {
    if (type === 'started' && only === null && isOurs(replica)) void begin(replica.id, {});
  });
  const leave = () => heard.end();
  signal.addEventListener('abort', leave);
  try {
    for (const { id } of replicas) void begin(id, { lines });
    if (!signal.aborted) yield* heard;
  } finally {
    stop();
    signal.removeEventListener('abort', leave);
    leaving.abort();
    heard.end();
  }
}

async function* linesOf(
  runner: Logs,
  replica: string,
  options: Parameters<Runner['logs']>[1],
): AsyncGenerator<LogLine> {
  try {
    for await (const line of runner.logs(replica, options)) yield { replica, line };
  } catch (error) {
    // Stopped meanwhile, and forgotten.
    if ((error as InputError).code !== 'RUNNER_REPLICA_UNKNOWN') throw error;
  }
}
