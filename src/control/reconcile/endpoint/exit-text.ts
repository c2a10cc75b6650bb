import type { ReplicaExit } from '../../runner/contract.js';

/** How a replica ended, as the end of a sentence that begins with its name. */
export function exitText({ code, reason, signal }: ReplicaExit): string {
  if (reason === 'startup-timeout') return 'was not ready in time';
  if (reason === 'stopped') return 'was stopped';
  if (reason === 'unseen') return 'ended while no control plane was there';
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}

/** The same of no replica in particular: who fails in the place of another fails in the same words. */
export const exitedText = (exit: ReplicaExit) => `a replica ${exitText(exit)}`;
