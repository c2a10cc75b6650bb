import type { ReplicaExit } from '../../../runner/contract.js';

/** How a replica ended, as the end of a sentence that begins with its name. */
export function exitText({ code, detail, reason, signal }: ReplicaExit): string {
  return detail === null ? endText(reason, code, signal) : `${endText(reason, code, signal)} (${detail})`;
}

function endText(reason: ReplicaExit['reason'], code: number | null, signal: string | null): string {
  if (reason === 'startup-timeout') return 'was not ready in time';
  if (reason === 'stopped') return 'was stopped';
  if (reason === 'unseen') return 'ended while no control plane was running';
  if (signal !== null) return `was ended by ${signal}`;
  return code === null ? 'ended' : `exited with code ${code}`;
}

/** The same without the replica's name: repeated failures have the same text, so that events count them. */
export const exitedText = (exit: ReplicaExit) => `a replica ${exitText(exit)}`;
