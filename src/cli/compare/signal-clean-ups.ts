import type { CliIo } from '../io.js';

/** Work to do when a signal ends the command. */
export interface SignalCleanUps {
  add(cleanUp: () => void): void;
  remove(cleanUp: () => void): void;
}

/** Collects clean-ups: the process runs one handler for a signal and ends. */
export function signalCleanUps(io: CliIo): SignalCleanUps {
  const cleanUps = new Set<() => void>();
  io.beforeSignal(() => {
    for (const cleanUp of cleanUps) cleanUp();
  });
  return { add: (cleanUp) => cleanUps.add(cleanUp), remove: (cleanUp) => cleanUps.delete(cleanUp) };
}
