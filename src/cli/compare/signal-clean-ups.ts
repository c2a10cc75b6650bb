import type { CliIo } from '../io.js';

/** What is done when a signal ends the command. */
export interface SignalCleanUps {
  add(cleanUp: () => void): void;
  remove(cleanUp: () => void): void;
}

/** One place for everything that wants to be told of a signal: the first who is told by the process ends it. */
export function signalCleanUps(io: CliIo): SignalCleanUps {
  const cleanUps = new Set<() => void>();
  io.beforeSignal(() => {
    for (const cleanUp of cleanUps) cleanUp();
  });
  return { add: (cleanUp) => cleanUps.add(cleanUp), remove: (cleanUp) => cleanUps.delete(cleanUp) };
}
