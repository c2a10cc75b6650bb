import type { CliIo } from '../io.js';

/** Work that takes no longer than an operator would wait. */
export type CleanUp = () => void | Promise<void>;

/** Work to do when a signal ends the command. */
export interface SignalCleanUps {
  add(cleanUp: CleanUp): void;
  remove(cleanUp: CleanUp): void;
}

/** Collects clean-ups: the process runs one handler for a signal and ends. */
export function signalCleanUps(io: CliIo): SignalCleanUps {
  const cleanUps = new Set<CleanUp>();
  io.beforeSignal(async () => {
    await Promise.all([...cleanUps].map((cleanUp) => cleanUp()));
  });
  return { add: (cleanUp) => cleanUps.add(cleanUp), remove: (cleanUp) => cleanUps.delete(cleanUp) };
}
