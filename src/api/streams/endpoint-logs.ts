import type { LogOptions, ReplicaHandle, Runner } from '../../control/runner/contract.js';
import type { InputError } from '../../kernel/errors.js';
import { Channel } from './channel.js';

export interface LogLine {
  readonly replica: string;
  readonly line: string;
  /** Of a followed log: where it continues, for a client that has lost its connection. */
  readonly position?: string;
}

export interface LogsWanted {
  /** Of one replica only. */
  readonly replica: string | null;
  /** Which lines of each, of those there are. */
  readonly lines: Pick<LogOptions, 'since' | 'tail'>;
  /** Where the logs of replicas are continued instead, by the id of the replica. */
  readonly after: ReadonlyMap<string, string>;
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
  else for (const { id } of replicas) yield* linesOf(runner, id, wanted.lines);
}

async function* followed(
  runner: Logs,
  replicas: readonly ReplicaHandle[],
  isOurs: (replica: ReplicaHandle) => boolean,
  { after, goesOn, lines, replica: only, signal }: LogsWanted,
): AsyncGenerator<LogLine> {
  const leaving = new AbortController();
  const ended = AbortSignal.any([signal, leaving.signal]);
  const heard = new Channel<LogLine>();
  const known = new Set<string>();
  let open = 0;
  const begin = async (id: string, options: LogOptions) => {
    if (known.has(id)) return;
    known.add(id);
    open++;
    try {
      for await (const line of linesOf(runner, id, { ...options, follow: true, signal: ended })) await heard.put(line);
      open--;
      if (open === 0 && !(await goesOn()) && open === 0) heard.end();
    } catch (error) {
      heard.fail(error);
    }
  };
  const stop = runner.watch(({ replica, type }) => {
    if (type === 'started' && only === null && isOurs(replica))
      void begin(replica.id, { since: 0, cursor: { position: null } });
  });
  const leave = () => heard.end();
  signal.addEventListener('abort', leave);
  try {
    for (const { id } of replicas) void begin(id, { ...lines, cursor: { position: after.get(id) ?? null } });
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
    for await (const line of runner.logs(replica, options)) {
      const position = options?.cursor?.position ?? null;
      yield position === null ? { replica, line } : { replica, line, position };
    }
  } catch (error) {
    // Stopped meanwhile, and forgotten.
    if ((error as InputError).code !== 'RUNNER_REPLICA_UNKNOWN') throw error;
  }
}
