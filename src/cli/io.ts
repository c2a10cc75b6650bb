/** One of the two streams a command may write to. */
export interface CliStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** What a command sees of the process around it. Tests hand in their own. */
export interface CliIo {
  /** The result and nothing else. */
  readonly stdout: CliStream;
  /** Errors, warnings, progress. */
  readonly stderr: CliStream;
  /** What is given to the command on standard input, as it comes. Opened when asked for: an open input waits. */
  stdin(): AsyncIterable<string | Uint8Array>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Monotonic milliseconds; drives the progress line and never reaches a result. */
  now(): number;
  /**
   * From now on a signal runs `cleanUp` before it ends the process. Not asked for during a simulation, which leaves no
   * time to handle a signal: until then the system ends the process at once.
   */
  beforeSignal(cleanUp: () => void): void;
  /** Resolves when the process is asked to end: for commands that run until then. */
  untilStopped(): Promise<void>;
  /** Calls `reload` whenever the process is asked to read its configuration again. */
  onHangUp(reload: () => void): void;
}

/** Colour only where a person looks at it and has not asked for none. */
export function wantsColour(stream: CliStream, env: CliIo['env']): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}
