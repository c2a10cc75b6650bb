import type { InputError } from '../../kernel/errors.js';
import type { ReplicaHandle, Runner } from '../runner/contract.js';

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
  /** Asked when all that were followed have ended: whether there may be more. */
  goesOn(): Promise<boolean>;
}

type Logs = Pick<Runner, 'logs' | 'watch'>;

/** What replicas have written: one after the other, or, followed, as it comes, with that of replicas that start meanwhile. */
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

/** What several put in and one takes out. Who has put something in goes on when it has been taken, or when it is over. */
class Channel<Item> {
  readonly #items: { readonly item: Item; readonly taken: () => void }[] = [];
  #wake = () => {};
  #isOver = false;
  #failure: { readonly error: unknown } | null = null;

  put(item: Item): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((taken) => {
      this.#items.push({ item, taken });
      this.#wake();
    });
  }

  end(): void {
    this.#isOver = true;
    for (const { taken } of this.#items.splice(0)) taken();
    this.#wake();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for (;;) {
      const first = this.#items.shift();
      if (first !== undefined) {
        yield first.item;
        first.taken();
      } else if (this.#failure !== null) throw this.#failure.error;
      else if (this.#isOver) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
