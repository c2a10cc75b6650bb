/** Stdout or stderr. */
export interface CliStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** The process as a command sees it. Tests pass their own. */
export interface CliIo {
  /** The result and nothing else. */
  readonly stdout: CliStream;
  /** Errors, warnings, progress. */
  readonly stderr: CliStream;
  /** Standard input, as it arrives. Opened by the call: an open stdin keeps the process alive. */
  stdin(): AsyncIterable<string | Uint8Array>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Monotonic milliseconds; drives the progress line and is never part of a result. */
  now(): number;
  /**
   * From now on a signal runs `cleanUp` before it ends the process, and waits for it; a second signal does not wait. A simulation does not use it: it blocks the event
   * loop, so that no handler would run, and the default action ends the process at once.
   */
  beforeSignal(cleanUp: () => void | Promise<void>): void;
  /** Resolves on SIGINT or SIGTERM: for commands that run until then. */
  untilStopped(): Promise<void>;
  /** The command that starts this program again: for commands that start engines. */
  readonly self: readonly string[];
  /** Calls `reload` on SIGHUP. */
  onHangUp(reload: () => void): void;
}

/** Colour where a terminal shows it: NO_COLOR and TERM=dumb switch it off, FORCE_COLOR decides before all others. */
export function wantsColour(stream: CliStream, env: CliIo['env']): boolean {
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0';
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** Lines longer than this are hard to read, on terminals of any width. */
const MOST_WIDTH = 120;
const LEAST_WIDTH = 40;

/** How wide help and prose may be: COLUMNS, else the terminal's width, else 80. */
export function textWidth(stream: CliStream, env: CliIo['env']): number {
  return Math.min(MOST_WIDTH, tableWidth(stream, env));
}

/** How wide tables may be. */
export function tableWidth(stream: CliStream, env: CliIo['env']): number {
  const given = /^\d{1,4}$/.test(env.COLUMNS ?? '') ? Number(env.COLUMNS) : 0;
  return Math.max(LEAST_WIDTH, given || stream.columns || 80);
}

/** How wide the tables of lists may be: any width where no terminal shows them, so that each row stays one line for other programs. */
export function listWidth(stream: CliStream, env: CliIo['env']): number {
  return stream.isTTY === true || env.COLUMNS ? tableWidth(stream, env) : Number.POSITIVE_INFINITY;
}

/** How the table of a list is shown on stdout. */
export function listPresentation({ env, stdout }: CliIo): { colour: boolean; width: number } {
  return { colour: wantsColour(stdout, env), width: listWidth(stdout, env) };
}

/** How text is shown on a stream. */
export function presentation({ env, stdout }: CliIo, stream: CliStream = stdout): { colour: boolean; width: number } {
  return { colour: wantsColour(stream, env), width: tableWidth(stream, env) };
}
