import { InputError, RunError } from '../../kernel/errors.js';

/** Errors of background work of the twin. Codes are stable. */

export function unknownServed(problem: string): InputError {
  const hint = "give 'model', 'hardware' and 'tp' as the catalogue has them";
  return new InputError('TWIN_UNKNOWN_ENGINE', 'endpoint', `its engines are not known: ${problem}`, hint);
}

export function twinCancelled(): RunError {
  return new RunError('TWIN_CANCELLED', 'the work was cancelled');
}

export function twinLost(problem: string): RunError {
  return new RunError('TWIN_LOST', `the work could not be done: ${problem}`);
}

export function twinTooLarge(): RunError {
  return new RunError('TWIN_TOO_LARGE', 'the work needs too much memory: try fewer requests, policies or replicas');
}

export function twinTooLong(ms: number): RunError {
  const problem = `the work was stopped after ${Math.round(ms / 60_000)} minutes`;
  return new RunError('TWIN_TOO_LONG', `${problem}: try fewer requests, policies or seeds`);
}
