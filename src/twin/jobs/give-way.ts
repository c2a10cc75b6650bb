import { constants, setPriority } from 'node:os';

/** Lets the threads that serve requests run first where cores are scarce. On Linux a priority is that of the calling thread. */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A sandbox may refuse it: the work is done all the same.
  }
}
