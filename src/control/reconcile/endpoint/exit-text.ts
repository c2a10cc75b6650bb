import type { ReplicaExit } from '../../runner/contract.js';

/** How a replica ended, as the end of a sentence that begins with its name. */
export function exitText({ code, reason, signal }: ReplicaExit): string {
  if (reason === 'startup-timeout') return 'was not ready in time';
  if (reason === 'stopped') return 'was stopped';
  if (reason === 'unseen') return 'ended while no control plane was there';
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}
