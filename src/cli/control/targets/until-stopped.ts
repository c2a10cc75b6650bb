import type { CliIo } from '../../io.js';

/** A signal that is given when the process is asked to end: for what goes on until then, and has then done what it should. */
export function untilStopped(io: Pick<CliIo, 'untilStopped'>): AbortSignal {
  const stop = new AbortController();
  void io.untilStopped().then(() => stop.abort());
  return stop.signal;
}
