import type { CliIo } from '../../io.js';

/** A signal that is aborted when the process receives SIGINT or SIGTERM: for commands that run until they are stopped. */
export function untilStopped(io: Pick<CliIo, 'untilStopped'>): AbortSignal {
  const stop = new AbortController();
  void io.untilStopped().then(() => stop.abort());
  return stop.signal;
}
